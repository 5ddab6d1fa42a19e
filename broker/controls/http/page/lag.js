// The lag of all groups over time, as far as this page has seen it.

import { count } from "./text.js";

const LONGEST = 600;
const histories = new Map();

/** Adds the present lag of the groups that an answer of the cluster describes. */
export function remember(groups, at = Date.now()) {
  for (const group of groups.filter((each) => each.lag !== null)) {
    if (!histories.has(group.group_id)) histories.set(group.group_id, []);
    const points = histories.get(group.group_id);
    const [before, last] = points.slice(-2);
    if (last && before[1] === group.lag && last[1] === group.lag) last[0] = at;
    else points.push([at, group.lag]);
    if (points.length > LONGEST) points.shift();
  }
}

export function historyOf(groupId) {
  return histories.get(groupId) ?? [];
}

/** Returns a lag as text. It is null while the group has no subscription and no committed offset. */
export function lagText(lag) {
  return lag === null ? "unknown" : count(lag);
}
