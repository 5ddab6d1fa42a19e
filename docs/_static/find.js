// Adds a box above each long table that shows only the rows with the words that are typed into it.

const LONG = 20;

function rowsOf(table) {
  return [...table.querySelectorAll("tbody tr")];
}

function addBox(table) {
  const box = document.createElement("input");
  const count = document.createElement("output");
  const place = document.createElement("search");
  box.type = "search";
  box.placeholder = "Find in this table";
  box.setAttribute("aria-label", "Find in this table");
  place.className = "find";
  place.append(box, count);
  (table.closest(".table-wrapper") ?? table).before(place);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rowsOf(table)) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rowsOf(table).length}` : "";
  });
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table")) {
    if (rowsOf(table).length >= LONG) addBox(table);
  }
});
