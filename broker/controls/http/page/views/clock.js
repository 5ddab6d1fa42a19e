// The clock of the cluster: freeze it, change its speed, and move it forward.

import { change, read } from "../api.js";
import { actionButton, notify } from "../dialogs.js";
import { fill, h, setText } from "../dom.js";
import { controlForm } from "../form.js";
import { nowMs, showClock, speedText } from "../now.js";
import { dayAndTime } from "../text.js";

export const title = "Clock";

const STEPS = ["1s", "10s", "1m", "10m", "1h", "1d"];
const SHOWN_EVERY_MS = 100;

export function open(main) {
  const now = h("p", { class: "big-clock", "aria-hidden": "true" });
  const announced = h("p", { class: "faint", role: "status" });
  const freeze = actionButton("Freeze", async () => applied(await change("/clock/freeze")));
  const run = actionButton("Run", async () => applied(await change("/clock/run")));
  const speed = h("input", { inputmode: "decimal", value: "60", "aria-describedby": "speed-help" });
  const duration = h("input", { placeholder: "for example: 10m", "aria-describedby": "duration-help", autocomplete: "off" });
  const moment = h("input", { type: "datetime-local", step: "0.001", "aria-describedby": "moment-help" });
  const number = (text) => (text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text));
  const field = (label, name, input, help, value) => ({ name, input, value, element: h("div", { class: "field" }, h("label", {}, label, input), h("small", { id: input.getAttribute("aria-describedby") }, help)) });
  const moved = (state) => applied(state) ?? `It is ${dayAndTime(state.now)} in the cluster.`;
  fill(main, h("h1", {}, title), now, announced, h("div", { class: "buttons" }, freeze, run),
    h("h2", {}, "Move the time forward"),
    h("p", {}, "Everything that becomes due in between happens at its own moment: time-outs, rebalances, delayed responses, retention."),
    h("div", { class: "buttons", role: "group", "aria-label": "Advance by" }, STEPS.map((step) => actionButton(`+ ${step}`, async () => notify(moved(await change("/clock/advance", { duration: step })))))),
    h("div", { class: "side-by-side" },
      controlForm("/clock/advance", [field("Duration", "duration", duration, "A number with ms, s, m, h, d or w, such as 10m.", () => duration.value.trim() || undefined)], "Advance", moved),
      controlForm("/clock/set", [field("New time", "moment", moment, "In your local time. The time cannot go back.", () => (moment.value ? new Date(moment.value).toISOString() : ""))], "Set", moved),
      controlForm("/clock/run", [field("Speed", "speed", speed, "How many times as fast as the wall clock the time passes.", () => number(speed.value))], "Run at this speed", (state) => applied(state) ?? `The time is ${speedText(state.speed)}.`)));
  const timer = setInterval(() => setText(now, Number.isNaN(nowMs()) ? "" : dayAndTime(nowMs())), SHOWN_EVERY_MS);

  function applied(state) {
    showClock(state);
    const frozen = state.speed === 0;
    now.classList.toggle("frozen", frozen);
    setText(announced, frozen ? "The time stands still. It passes only when it is moved." : `The time passes: ${speedText(state.speed)}.`);
    freeze.hidden = frozen;
    run.hidden = state.speed === 1;
    run.textContent = frozen ? "Run" : "Run in real time";
  }

  return {
    async refresh() {
      applied(await read("/clock/show"));
    },
    close() {
      clearInterval(timer);
    },
  };
}
