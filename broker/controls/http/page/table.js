// Tables that are updated in place: rows keep their elements, and cells are only built again if their value has changed. Focus, selection and
// scroll positions therefore survive an update.
//
// A table that is wider than its window scrolls sideways in its own element; in narrow windows, its first column stays in place.

import { fill, h } from "./dom.js";
import { prose } from "./text.js";

/**
 * Returns an object with `element` and `update(rows)`. A column has a `title`, a function `value` of a row, and optionally `cell`, which
 * returns the content of the cell, and `number: true`. `key` returns the identity of a row. `empty` is shown if there are no rows.
 */
export function table(caption, columns, key, empty) {
  const head = h("tr", {}, columns.map((each) => h("th", { scope: "col", class: each.number && "number" }, each.title)));
  const body = h("tbody", {});
  const whole = h("table", { "aria-label": caption }, h("thead", {}, head), body);
  const nothing = h("p", { class: "empty" }, prose(empty));
  const element = h("div", { class: "table", role: "region", "aria-label": caption, tabindex: "0" }, nothing);
  const kept = new Map();

  function update(rows) {
    const before = new Set(kept.keys());
    const current = rows.map((row) => {
      const id = key(row);
      before.delete(id);
      if (!kept.has(id)) kept.set(id, newRow(columns));
      const elements = kept.get(id);
      columns.forEach((column, index) => updateCell(elements, column, index, row));
      return elements.row;
    });
    for (const id of before) kept.delete(id);
    arrange(body, current);
    const shown = rows.length ? whole : nothing;
    if (element.firstElementChild !== shown) fill(element, shown);
  }

  return { element, update };
}

function newRow(columns) {
  const cells = columns.map((column) => h("td", { class: column.number && "number" }));
  return { row: h("tr", {}, cells), cells, values: columns.map(() => undefined) };
}

function updateCell(elements, column, index, row) {
  const value = column.value(row);
  const compared = JSON.stringify(value) ?? "";
  if (compared === elements.values[index]) return;
  elements.values[index] = compared;
  fill(elements.cells[index], h("div", {}, column.cell ? column.cell(row) : value));
}

/** Puts the children of an element into the given order, and moves only those that are elsewhere. */
function arrange(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) {
    if (!wanted.has(child)) child.remove();
  }
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}
