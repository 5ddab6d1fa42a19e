// The time of the cluster, which passes at its own speed or stands still. It is computed from the last answer of the cluster.

import { byId, setText } from "./dom.js";
import { dayAndTime } from "./text.js";

const element = byId("clock");
/** @type {{now: number, speed: number, at: number} | null} */
let known = null;

/** Remembers the state of the clock and shows it. */
export function showClock(state) {
  known = { now: new Date(state.now).getTime(), speed: state.speed, at: performance.now() };
  show();
}

/** Returns the time of the cluster in milliseconds, NaN before its first answer. */
export function nowMs() {
  return known === null ? NaN : known.now + (performance.now() - known.at) * known.speed;
}

/** Returns how fast the time passes in words. */
export function speedText(speed) {
  if (speed === 0) return "frozen";
  return speed === 1 ? "real time" : `${speed} times as fast`;
}

function show() {
  if (known === null || document.hidden) return;
  setText(element, `${dayAndTime(nowMs()).slice(0, 19)}${known.speed === 1 ? "" : ` (${speedText(known.speed)})`}`);
  element.className = known.speed === 0 ? "frozen" : "";
}

setInterval(show, 1000);
