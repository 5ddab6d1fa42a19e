// The rebalances of a group, from the events in the record of exchanges.

import { read } from "./api.js";
import { table } from "./table.js";
import { short, time } from "./text.js";

const MOST_SHOWN = 50;

const COLUMNS = [
  { title: "Time", value: (row) => row.at.cluster_ms, cell: (row) => time(row.at.cluster_ms) },
  { title: "Event", value: (row) => row.text, cell: (row) => short(row.text, 300) },
  { title: "Details", value: (row) => row.fields, cell: (row) => Object.entries(row.fields).filter(([label]) => label !== "group").map(([label, value]) => `${label} ${short(String(value), 60)}`).join(", ") },
];

/** Returns a table of a group's events, the newest first: `{element, update()}`. */
export function rebalances(groupId) {
  const events = table("Rebalances", COLUMNS, (row) => row.sequence, "The record contains no rebalances of this group.");
  let next = 0;
  let found = [];
  return {
    element: events.element,
    async update() {
      const added = await read("/wire/list", { since: next, filter: "event=group" });
      if (added.length) next = added.at(-1).sequence + 1;
      found = [...added.filter((each) => each.fields.group === groupId).reverse(), ...found].slice(0, MOST_SHOWN);
      events.update(found);
    },
  };
}
