// Transactions: transactional ids with their producers and their open transactions.

import { read } from "../api.js";
import { fill, h } from "../dom.js";
import { stateMark } from "../marks.js";
import { nowMs } from "../now.js";
import { table } from "../table.js";
import { duration, name, partitions, time } from "../text.js";

export const title = "Transactions";

const SECOND_MS = 1000;

/** Returns since when a transaction is open, in whole seconds of the cluster's time. */
const age = (row) => (row.started === null ? null : Math.max(0, Math.floor((nowMs() - new Date(row.started).getTime()) / SECOND_MS)));

const COLUMNS = [
  { title: "Transactional id", value: (row) => row.transactional_id, cell: (row) => name(row.transactional_id) },
  { title: "State", value: (row) => row.state, cell: (row) => stateMark(row.state) },
  { title: "Producer", value: (row) => `${row.producer_id}, epoch ${row.producer_epoch}` },
  { title: "Started", value: (row) => row.started, cell: (row) => (row.started === null ? h("span", { class: "faint" }, "not open") : time(row.started)) },
  { title: "Open for", value: age, cell: (row) => (row.started === null ? "" : duration((age(row) ?? 0) * SECOND_MS)), number: true },
  { title: "Time-out", value: (row) => row.timeout_ms, cell: (row) => duration(row.timeout_ms), number: true },
  { title: "Partitions", value: (row) => row.partitions, cell: (row) => partitions(row.partitions) || h("span", { class: "faint" }, "none") },
  { title: "Coordinator", value: (row) => row.coordinator, cell: (row) => (row.coordinator < 0 ? "none" : row.coordinator) },
];

export function open(main) {
  const list = table("Transactions", COLUMNS, (row) => row.transactional_id, "There are no transactional producers.");
  fill(main, h("h1", {}, title), list.element);
  return {
    async refresh() {
      list.update(await read("/transaction/list"));
    },
  };
}
