// The wire: the live sequence diagram of exchanges, with a filter, a pause, and details of each entry.

import { read } from "../api.js";
import { actionButton } from "../dialogs.js";
import { fill, h, setText } from "../dom.js";
import { detailsPanel } from "../exchange.js";
import { follow } from "../live.js";
import { sampler } from "../sample.js";
import { sequenceDiagram } from "../sequence.js";
import { count, counted } from "../text.js";

export const title = "Wire";

const SHOWN_BEFORE = 100;
const EXAMPLES = ["error", "api=Produce", "topic=orders", "node=1", "fault", "not (api=Fetch or api=Heartbeat)", "event", "duration_ms>100"];

export function open(main) {
  const filter = h("input", { type: "search", name: "filter", list: "filter-examples", placeholder: "for example: api=Produce and error", autocomplete: "off", spellcheck: "false", "aria-describedby": "filter-error" });
  const examples = h("datalist", { id: "filter-examples" }, EXAMPLES.map((each) => h("option", { value: each })));
  const error = h("div", { id: "filter-error", role: "alert", class: "filter-error" });
  const status = h("p", { class: "faint", role: "status" });
  const pause = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  const details = detailsPanel();
  const diagram = sequenceDiagram((entry, row) => {
    setPaused(true);
    details.show(entry, row);
  });
  const samples = sampler((entries, leftOut) => {
    diagram.add(entries);
    numbers.shown += entries.length;
    numbers.leftOut += leftOut;
    numbers.sampled = leftOut > 0;
    for (const entry of entries) numbers.next = Math.max(numbers.next, entry.sequence + 1);
    showStatus();
  });
  const numbers = { shown: 0, leftOut: 0, missed: 0, sampled: false, next: 0 }; // `next` is 0 until the first entry is known
  let paused = false;
  let refused = false;
  /** @type {{close(): void} | null} */
  let stream = null;

  /** Returns the path of the stream, which continues where it was interrupted, or begins with the latest entries. */
  async function path() {
    numbers.next ||= Math.max(1, (await read("/wire/mark")) - SHOWN_BEFORE);
    return `/wire/stream?${new URLSearchParams({ since: String(numbers.next), sample: "true", filter: filter.value.trim() })}`;
  }

  function onEvent(type, data) {
    if (type === "missed") numbers.missed += JSON.parse(data).missed;
    else if (type === "left_out") {
      numbers.leftOut += JSON.parse(data).left_out;
      numbers.sampled = true;
    } else if (type === "exchange" || type === "event") samples.add(data);
    if (type === "missed" || type === "left_out") showStatus();
  }

  function connect() {
    stream?.close();
    fill(error);
    filter.removeAttribute("aria-invalid");
    refused = false;
    stream = follow(path, onEvent, (state, problem) => {
      if (state !== "refused") return;
      refused = true;
      fill(error, h("pre", {}, problem.message));
      if (problem.parameter === "filter") filter.setAttribute("aria-invalid", "true");
      showStatus();
    });
    showStatus();
  }

  function setPaused(value) {
    if (paused === value) return;
    paused = value;
    pause.setAttribute("aria-pressed", String(paused));
    setText(pause, paused ? "Resume" : "Pause");
    if (paused) {
      stream?.close();
      samples.clear();
      showStatus();
    } else connect();
  }

  function showStatus() {
    const parts = [refused ? "Nothing is read." : paused ? "Paused." : "Live.", `${counted(numbers.shown, "entry").replace("entrys", "entries")} shown.`];
    const omitted = numbers.leftOut + numbers.missed;
    if (omitted) parts.push(`This is a sample: ${count(omitted)} more were left out, because they came faster than a page can show them.`);
    setText(status, parts.join(" "));
    status.classList.toggle("warn", numbers.sampled && !paused);
  }

  const form = h("form", { class: "toolbar" },
    h("label", { class: "grow" }, "Filter", filter), examples, h("button", { class: "primary" }, "Apply"), pause,
    actionButton("Clear", async () => {
      diagram.clear();
      Object.assign(numbers, { shown: 0, leftOut: 0, missed: 0, sampled: false });
      showStatus();
    }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    details.close();
    diagram.clear();
    Object.assign(numbers, { shown: 0, leftOut: 0, missed: 0, sampled: false, next: 0 });
    if (paused) setPaused(false);
    else connect();
  });
  pause.addEventListener("click", () => setPaused(!paused));
  fill(main, h("h1", {}, title), form, error, status, h("div", { class: "wire" }, diagram.element, details.element));
  connect();

  return {
    async refresh() {},
    close() {
      stream?.close();
      samples.close();
    },
  };
}
