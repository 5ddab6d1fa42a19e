// The state of the cluster: snapshots, the state after start, and saving to a file.

import { change, read } from "../api.js";
import { actionButton, confirmed, notify } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { controlForm, fieldOf, parametersOf } from "../form.js";
import { table } from "../table.js";
import { bytes, count, time } from "../text.js";

export const title = "Snapshots";

const COLUMNS = [
  { title: "Snapshot", value: (row) => row.id },
  { title: "Taken", value: (row) => row.taken_ms, cell: (row) => time(row.taken_ms) },
  { title: "Topics", value: (row) => row.topics, cell: (row) => count(row.topics), number: true },
  { title: "Logs", value: (row) => row.log_bytes, cell: (row) => bytes(row.log_bytes), number: true },
  { title: "Actions", value: (row) => row.id, cell: (row) => h("div", { class: "buttons" }, restoreButton(row.id), closeButton(row.id)) },
];

function restoreButton(snapshot) {
  return actionButton("Restore", async () => {
    if (!(await confirmed(`Restore snapshot ${snapshot}?`, "The cluster returns to the state of the snapshot. All connections are closed with RST.", "Restore"))) return;
    await change("/state/restore", { snapshot });
    notify(`The cluster is in the state of snapshot ${snapshot}.`);
  }, { "aria-label": `Restore snapshot ${snapshot}` });
}

function closeButton(snapshot) {
  return actionButton("Release", async () => {
    await change("/state/close", { snapshot });
    notify(`Snapshot ${snapshot} is released.`);
  }, { "aria-label": `Release snapshot ${snapshot}` });
}

export function open(main) {
  const list = table("Snapshots", COLUMNS, (row) => row.id, "There are no snapshots.");
  const take = actionButton("Take a snapshot", async () => {
    const snapshot = await change("/state/snapshot");
    notify(`Snapshot ${snapshot.id} is taken.`);
  }, { class: "primary" });
  const reset = actionButton("Reset to the state after start", async () => {
    if (!(await confirmed("Reset the cluster?", "It returns to the state after its start. All connections are closed with RST, and faults are removed.", "Reset"))) return;
    await change("/state/reset");
    notify("The cluster is in the state after its start.");
  }, { class: "danger" });
  const saving = h("div", {});
  fill(main, h("h1", {}, title),
    h("p", {}, "A snapshot contains topics, records, groups, offsets, transactions, ACLs, settings and the states of the nodes. The time does not go back."),
    h("div", { class: "buttons" }, take, reset), list.element,
    h("details", { class: "panel" }, h("summary", {}, "Save the state to a file"), saving));
  parametersOf("/state/save").then((parameters) => {
    fill(saving, controlForm("/state/save", parameters.map((each) => fieldOf(each)), "Save", (size) => `The file has ${bytes(size)}.`));
  }).catch((error) => notify(error.message, true));
  return {
    async refresh() {
      list.update(await read("/state/list"));
    },
  };
}
