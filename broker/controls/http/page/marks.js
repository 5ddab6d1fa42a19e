// Marks of states. A colour never stands alone: the state is always written out.

import { h } from "./dom.js";
import { short } from "./text.js";

const GOOD = new Set(["running", "Stable", "CompleteCommit", "committed"]);
const BAD = new Set(["stopped", "Dead", "aborted", "CompleteAbort", "PrepareAbort", "PrepareEpochFence"]);
const BUSY = new Set(["paused", "isolated", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Ongoing", "PrepareCommit", "open"]);

export function stateMark(state) {
  const kind = GOOD.has(state) ? "good" : BAD.has(state) ? "bad" : BUSY.has(state) ? "busy" : "idle";
  return h("span", { class: `state ${kind}` }, short(state));
}

/** Returns the mark of a node, which may have failed without the controller knowing it. */
export function nodeState(row) {
  const differs = row.state !== "running" && !row.fenced ? "not noticed yet" : row.state === "running" && row.fenced ? "fenced" : null;
  return [stateMark(row.state), differs && h("span", { class: "tag" }, differs)];
}
