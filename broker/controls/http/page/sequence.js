// The sequence diagram: one lane for each node and each client, and one row for each exchange or event, the newest at the bottom.
//
// A row is a button, of which one is in the tab order; the arrow keys move to the others. Positions are custom properties of the elements,
// from which the style sheet computes the places of arrows. In a narrow window, the style sheet shows the same rows as a list.

import { fill, h } from "./dom.js";
import { breakable, duration, name, short, timeOfDay, withoutUuids } from "./text.js";

const MAX_ROWS = 300;
const MAX_CLIENTS = 8;
const OTHERS = "other clients";

/** Returns the diagram: `{element, add(entries), clear(), select(sequence)}`. `onOpen(entry)` is called when a row is chosen. */
export function sequenceDiagram(onOpen) {
  const lanes = h("div", { class: "lanes", "aria-hidden": "true" });
  const rows = h("ol", { class: "exchanges", "aria-label": "Exchanges, the newest last" });
  const scroller = h("div", { class: "sequence", role: "region", "aria-label": "Sequence diagram", tabindex: "0" }, lanes, rows);
  let entries = [];
  let nodes = [];
  let clients = [];
  /** @type {HTMLElement | null} */
  let current = null;

  /** Adds the lanes that entries need. Returns whether there are new ones. */
  function addLanes(added) {
    const before = nodes.length + clients.length;
    for (const entry of added) {
      if (entry.node !== null && !nodes.includes(entry.node)) nodes = [...nodes, entry.node].sort((one, other) => one - other);
      const client = clientOf(entry);
      if (client !== null && !clients.includes(client) && clients.length <= MAX_CLIENTS) clients.push(clients.length < MAX_CLIENTS ? client : OTHERS);
    }
    return nodes.length + clients.length > before;
  }

  function laneOf(client) {
    const index = clients.indexOf(client);
    return index < 0 ? clients.indexOf(OTHERS) : index;
  }

  function showLanes() {
    scroller.style.setProperty("--lanes", clients.length + nodes.length);
    fill(lanes, clients.map((each) => h("span", { class: "lane client" }, name(each, 40))), nodes.map((each) => h("span", { class: "lane" }, `node ${each}`)));
  }

  function rowOf(entry) {
    const button = h("button", { type: "button", tabindex: "-1", "data-sequence": entry.sequence, onclick: () => choose(button, entry) });
    const row = h("li", {}, button);
    if (entry.kind === "event") fillEvent(button, entry);
    else fillExchange(button, entry, laneOf(clientOf(entry)), clients.length + nodes.indexOf(entry.node));
    return row;
  }

  /** Inserts a row in the order of the requests. A request that waits is known to be complete later than those behind it. */
  function insert(entry) {
    let after = rows.lastElementChild;
    while (after && Number(after.firstElementChild.dataset.sequence) > entry.sequence) after = after.previousElementSibling;
    if (after) after.after(rowOf(entry));
    else rows.prepend(rowOf(entry));
  }

  function choose(button, entry) {
    for (const each of rows.querySelectorAll("[aria-pressed]")) each.removeAttribute("aria-pressed");
    button.setAttribute("aria-pressed", "true");
    enter(button);
    onOpen(entry, button);
  }

  /** Makes a row the one in the tab order. */
  function enter(button) {
    current?.setAttribute("tabindex", "-1");
    current = button;
    current?.setAttribute("tabindex", "0");
  }

  rows.addEventListener("keydown", (event) => {
    const all = [...rows.querySelectorAll("button")];
    const index = all.indexOf(document.activeElement);
    const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1, PageDown: index + 10, PageUp: index - 10 }[event.key];
    if (target === undefined || index < 0) return;
    event.preventDefault();
    enter(all[Math.min(Math.max(target, 0), all.length - 1)]);
    current?.focus();
  });

  return {
    element: scroller,
    add(added) {
      const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
      entries = [...entries, ...added].sort((one, other) => one.sequence - other.sequence).slice(-MAX_ROWS);
      if (addLanes(added)) {
        showLanes();
        fill(rows, entries.map(rowOf));
      } else {
        for (const entry of added) insert(entry);
        while (rows.children.length > MAX_ROWS) rows.firstElementChild.remove();
      }
      if (!current?.isConnected) enter(rows.lastElementChild?.firstElementChild ?? null);
      if (atEnd) scroller.scrollTop = scroller.scrollHeight;
    },
    clear() {
      entries = [];
      nodes = [];
      clients = [];
      fill(lanes);
      fill(rows);
    },
  };
}

/** Returns the client of an exchange, or null for an event. A client without an id is known by its address. */
function clientOf(entry) {
  return entry.kind === "event" ? null : entry.client_id || entry.peer.replace(/:\d+$/, "");
}

function fillEvent(button, entry) {
  button.className = "event";
  fill(button,
    h("span", { class: "when" }, timeOfDay(entry.at.cluster_ms)),
    h("span", { class: "note", "data-kind": entry.event }, h("strong", {}, entry.event), " ", breakable(short(withoutUuids(entry.text), 200))));
}

function fillExchange(button, entry, from, to) {
  const failed = entry.errors.length > 0 || entry.ended !== "";
  button.className = failed ? "exchange failed" : entry.faults.length ? "exchange hit" : "exchange";
  button.style.setProperty("--left", Math.min(from, to));
  button.style.setProperty("--span", Math.abs(to - from));
  fill(button,
    h("span", { class: "when" }, timeOfDay(entry.received.cluster_ms)),
    h("span", { class: "arrows" },
      h("span", { class: "arrow request" }, h("span", { class: "label" }, `${entry.api} v${entry.version}`, h("span", { class: "hidden" }, `, ${short(clientOf(entry), 40)} to node ${entry.node}`), entry.topics.length > 0 && h("span", { class: "of" }, " ", breakable(short(entry.topics.join(" "), 40))))),
      h("span", { class: "arrow response" }, h("span", { class: "label" }, breakable(answerText(entry))))));
}

/** Returns in words what the response contains, and how the exchange ended. */
function answerText(entry) {
  const parts = [];
  if (entry.errors.length) parts.push(entry.errors.join(" "));
  if (entry.contents) parts.push(short(entry.contents, 100));
  if (entry.faults.length) parts.push("hit by a fault");
  if (entry.ended) parts.push(`ended: ${short(entry.ended, 60)}`);
  else if (entry.answered === null) parts.push("not answered");
  else if (entry.response_bytes === null) parts.push("no response");
  else parts.push(duration(Math.max(0, entry.duration_ms)));
  if (entry.waits.length) parts.push(`waited for ${short(entry.waits.join(", "), 60)}`);
  return parts.join(" \u00b7 ");
}
