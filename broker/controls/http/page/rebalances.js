// The rebalances of a group, from the events in the record of exchanges.

import { read } from "./api.js";
import { h } from "./dom.js";
import { table } from "./table.js";
import { breakable, short, time, timeOfDay, withoutUuids } from "./text.js";

const MAX_SHOWN = 50;

const COLUMNS = [
  { title: "Time", value: (row) => row.at.cluster_ms, cell: (row) => time(row.at.cluster_ms, timeOfDay) },
  { title: "Generation", value: (row) => row.fields.generation ?? row.fields.epoch ?? "", number: true },
  { title: "Event", value: (row) => row.text, cell: (row) => h("span", { title: short(row.text, 300) }, breakable(short(withoutUuids(ofGroup(row)), 300))) },
];

/** Returns the text of an event without the name of its group, which stands above the table. */
function ofGroup(event) {
  const text = event.text.replace(`Group ${event.fields.group}`, "").replace(/^:? /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

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
      found = [...added.filter((each) => each.fields.group === groupId).reverse(), ...found].slice(0, MAX_SHOWN);
      events.update(found);
    },
  };
}
