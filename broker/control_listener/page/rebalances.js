// placeholder
import { h } from "./dom.js";
export function rebalances(groupId) { return { element: h("p", {}, groupId), async update() {} }; }
