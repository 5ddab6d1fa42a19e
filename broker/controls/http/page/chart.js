// A small line chart of numbers over time, as SVG, with a text for screen readers.

import { h, svg } from "./dom.js";
import { count, timeOfDay } from "./text.js";

const HEIGHT = 120;
const TOP = 8;
const BOTTOM = 18;
const LEFT = 56;

/** Returns an element with a chart. `points` are pairs of a time in milliseconds and a number, `noun` says what is counted. */
export function lineChart(points, noun) {
  if (points.length < 2) return h("p", { class: "empty" }, `The chart begins when this page has seen the ${noun} twice.`);
  const width = matchMedia("(max-width: 40rem)").matches ? 320 : 640; // the texts of the chart have the same size in both
  const [first, last] = [points[0][0], points.at(-1)[0]];
  const highest = niceMaximum(Math.max(...points.map((each) => each[1])));
  const x = (at) => LEFT + ((at - first) / (last - first || 1)) * (width - LEFT - 4);
  const y = (value) => HEIGHT - BOTTOM - (value / highest) * (HEIGHT - BOTTOM - TOP);
  // Steps, because a number is known to change only when it is seen.
  const line = points.map(([at, value], index) => (index ? `H${x(at).toFixed(1)}V${y(value).toFixed(1)}` : `M${x(at).toFixed(1)},${y(value).toFixed(1)}`)).join("");
  const values = points.map((each) => each[1]);
  const summary = `${noun} from ${timeOfDay(first)} to ${timeOfDay(last)}: now ${count(values.at(-1))}, lowest ${count(Math.min(...values))}, highest ${count(Math.max(...values))}`;
  return h("figure", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary },
      [0, highest / 2, highest].map((value) => [
        svg("line", { class: "grid", x1: LEFT, x2: width - 4, y1: y(value), y2: y(value) }),
        svg("text", { class: "axis", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
      ]),
      svg("path", { class: "area", d: `${line}V${y(0)}H${x(first)}Z` }),
      svg("path", { class: "line", d: line }),
      svg("text", { class: "axis", x: LEFT, y: HEIGHT - 3 }, timeOfDay(first).slice(0, 8)),
      svg("text", { class: "axis", x: width - 4, y: HEIGHT - 3, "text-anchor": "end" }, timeOfDay(last).slice(0, 8))),
    h("figcaption", {}, summary));
}

/** Returns the lowest of 2, 4, 10, 20, 40, 100 and so on that is not below a number. */
function niceMaximum(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 4].map((factor) => factor * power).find((each) => each >= Math.max(value, 2)) ?? 10 * power;
}
