// The records of a topic: a browser for them, and a form that produces one.

import { change, read } from "../api.js";
import { bytesOf, FORMATS, shown, sizeOf } from "../bytes.js";
import { notify, showError } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { stateMark } from "../marks.js";
import { nowMs } from "../now.js";
import { bytes, count, counted, short, time } from "../text.js";

const PREVIEW = 200;
const MAX_SHOWN = 100_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Returns the options of a select for the partitions of a topic. */
function partitionSelect(all) {
  return h("select", { name: "partition" }, h("option", { value: "" }, all));
}

function updatePartitions(select, partitions) {
  while (select.options.length - 1 < partitions.length) {
    const index = select.options.length - 1;
    select.append(h("option", { value: index }, index));
  }
  while (select.options.length - 1 > partitions.length) select.lastElementChild.remove();
}

/** Returns a browser: `{element, update(partitions)}`. */
export function recordBrowser(topic) {
  const partition = partitionSelect("all");
  const from = h("select", { name: "from" }, ["newest", "oldest", "offset", "time"].map((each) => h("option", {}, each)));
  const offset = h("input", { name: "offset", inputmode: "numeric", pattern: "[0-9]*", value: "0", size: "8" });
  const moment = h("input", { name: "time", type: "datetime-local", step: "0.001" });
  const limit = h("select", { name: "limit" }, [20, 50, 200].map((each) => h("option", {}, each)));
  const format = h("select", { name: "format" }, FORMATS.map((each) => h("option", {}, each)));
  const follow = h("input", { type: "checkbox", name: "follow", checked: true });
  const error = h("div", { role: "alert" });
  const summary = h("p", { class: "faint", role: "status" });
  const list = h("ol", { class: "records", "aria-label": "Records" });
  const offsetLabel = h("label", {}, "From offset", offset);
  const momentLabel = h("label", {}, "From time", moment);
  const form = h("form", { class: "toolbar" },
    h("label", {}, "Partition", partition), h("label", {}, "Begin with", from), offsetLabel, momentLabel,
    h("label", {}, "Records", limit), h("label", {}, "Show as", format),
    h("button", { class: "primary" }, "Read"), h("label", { class: "check" }, follow, "Follow"));
  let partitions = [];
  let records = [];
  let seen = "";

  function showFields() {
    offsetLabel.hidden = from.value !== "offset";
    momentLabel.hidden = from.value !== "time";
    if (from.value === "time" && !moment.value) moment.value = localTime(nowMs() - 60_000);
  }

  /** Returns the parameters of `record decode` for one partition. */
  function parameters(each) {
    const common = { topic, partition: each.partition, limit: limit.value, max_bytes: MAX_BYTES };
    if (from.value === "newest") return { ...common, offset: Math.max(each.start_offset, each.end_offset - limit.value) };
    if (from.value === "offset") return { ...common, offset: offset.value || 0 };
    if (from.value === "time") return { ...common, since: new Date(moment.value).toISOString() };
    return common;
  }

  async function load() {
    showError(error, null);
    try {
      if (from.value === "time" && Number.isNaN(new Date(moment.value).getTime())) throw new Error("The time is not complete.");
      if (from.value === "offset" && !/^[0-9]*$/.test(offset.value)) throw new Error("The offset must be a number that is not negative.");
      const chosen = partition.value === "" ? partitions : partitions.filter((each) => each.partition === Number(partition.value));
      const answers = [];
      for (const each of chosen) answers.push(...(await read("/record/decode", parameters(each))));
      records = sorted(answers, from.value === "newest").slice(0, Number(limit.value));
      show();
    } catch (problem) {
      showError(error, problem);
    }
  }

  function show() {
    const open = new Set([...list.children].filter((each) => each.querySelector("details").open).map((each) => each.dataset.key));
    fill(list, records.map((record) => recordElement(record, format.value, open)));
    summary.textContent = records.length ? `${counted(records.length, "record")}${from.value === "newest" ? ", newest first" : ""}` : "There are no records here.";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    load();
  });
  for (const each of [partition, from, limit]) {
    each.addEventListener("change", () => {
      showFields();
      if (from.value !== "time" && from.value !== "offset") load();
    });
  }
  format.addEventListener("change", show);
  showFields();

  const titles = h("div", { class: "record-titles", "aria-hidden": "true" }, ["Partition : offset", "Time", "Key", "Value"].map((each) => h("span", {}, each)));

  return {
    element: h("section", { "aria-label": "Record browser" }, form, error, summary, h("div", { class: "record-list" }, titles, list)),
    async update(current) {
      partitions = current;
      updatePartitions(partition, partitions);
      const ends = JSON.stringify(partitions.map((each) => [each.start_offset, each.end_offset, each.high_watermark]));
      if (ends === seen || (seen && !follow.checked)) return;
      seen = ends;
      await load();
    },
  };
}

/** Returns a local time for an input of the type datetime-local. */
function localTime(milliseconds) {
  const date = new Date(milliseconds);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** Sorts records of several partitions by time. Those of one partition stay in the order of their offsets. */
function sorted(records, newestFirst) {
  const sign = newestFirst ? -1 : 1;
  return records.sort((one, other) => (one.partition === other.partition ? sign * (one.offset - other.offset) : sign * (one.timestamp - other.timestamp)));
}

function recordElement(record, format, open) {
  const key = `${record.partition}-${record.offset}`;
  const details = h("details", { open: open.has(key) }, h("summary", {},
    h("span", { class: "place" }, `${record.partition} : ${count(record.offset)}`),
    h("span", { class: "when" }, time(record.timestamp)),
    h("span", { class: "key" }, schemaTag(record.decoded_key), preview(record.key, record.decoded_key, format, "no key")),
    h("span", { class: "value" }, schemaTag(record.decoded_value), preview(record.value, record.decoded_value, format, "null (tombstone)"),
      record.transaction && stateMark(record.transaction),
      record.headers.length > 0 && h("span", { class: "tag" }, counted(record.headers.length, "header")))));
  const build = () => {
    if (details.open && details.children.length === 1) details.append(recordDetails(record, format));
  };
  details.addEventListener("toggle", build);
  build();
  return h("li", { "data-key": key }, details);
}

/** Returns the subject and the id of the schema of a value, null if it has none. */
function schemaTag(decoded) {
  if (!decoded) return null;
  const subject = decoded.subjects.length ? `${short(decoded.subjects[0], 60)}${decoded.subjects.length > 1 ? ` and ${decoded.subjects.length - 1} more` : ""}, ` : "";
  return [h("span", { class: decoded.error === null ? "tag" : "state bad", title: decoded.error ?? "" }, `${subject}schema ${decoded.schema_id}`), " "];
}

/** Returns what is shown of a value and in which format: JSON by its schema, and bytes if it cannot be decoded. */
function viewOf(value, decoded, format) {
  if (!decoded || format === "Text" || format === "Hex") return [value, format];
  return decoded.data === null ? [value, "Hex"] : [decoded.data, format];
}

/** Returns the beginning of a value on one line. */
function preview(stored, decoded, chosen, missing) {
  const [value, format] = viewOf(stored, decoded, chosen);
  if (value === null) return h("span", { class: "faint" }, missing);
  if (value === "") return h("span", { class: "faint" }, "empty");
  const line = format === "Hex" || typeof value !== "string" ? [...bytesOf(typeof value === "string" ? value.slice(0, 60) : value).subarray(0, 60)].map((each) => each.toString(16).padStart(2, "0")).join(" ") : short(value, PREVIEW);
  return h("code", { dir: "auto" }, line);
}

function recordDetails(record, format) {
  const facts = [
    [`Key (${record.key === null ? "none" : bytes(sizeOf(record.key))})`, record.key, record.decoded_key],
    [`Value (${record.value === null ? "none" : bytes(sizeOf(record.value))})`, record.value, record.decoded_value],
  ];
  return h("div", { class: "details" },
    facts.map(([label, value, decoded]) => [h("h3", {}, label), schemaOf(decoded), whole(...viewOf(value, decoded, format), label)]),
    record.headers.length > 0 && [h("h3", {}, "Headers"), h("dl", { class: "facts" }, record.headers.map(([header, value]) => [h("dt", {}, short(header)), h("dd", {}, whole(value, format, `Header ${short(header, 40)}`))]))]);
}

/** Returns which schema a value has and, if it cannot be decoded, the reason. */
function schemaOf(decoded) {
  if (!decoded) return null;
  const type = decoded.schema_type === null ? "" : ` (${short(decoded.schema_type)})`;
  const subjects = decoded.subjects.length ? ` of ${decoded.subjects.map((each) => short(each)).join(", ")}` : "";
  const reason = decoded.error !== null && h("p", { class: "state bad" }, `Not decoded: ${short(decoded.error, 500)}`);
  return [h("p", { class: "faint" }, `Schema ${decoded.schema_id}${type}${subjects}`), reason];
}

function whole(value, format, label) {
  if (value === null) return h("p", { class: "faint" }, "null");
  const size = sizeOf(value);
  const text = h("pre", { tabindex: "0", dir: "auto", "aria-label": label }, shown(value, format, 2000));
  if (size <= 2000) return text;
  const most = Math.min(size, MAX_SHOWN);
  const more = h("button", { type: "button", onclick: () => { fill(text, shown(value, format, MAX_SHOWN)); more.remove(); } }, `Show ${bytes(most)} of ${bytes(size)}`);
  return [text, more];
}

/** Returns a form that produces a record: `{element, update(partitions)}`. */
export function produceForm(topic) {
  const partition = partitionSelect("chosen by the key");
  const key = h("input", { name: "key", autocomplete: "off" });
  const noKey = h("input", { type: "checkbox", checked: true });
  const value = h("textarea", { name: "value", rows: 4, spellcheck: "false" });
  const tombstone = h("input", { type: "checkbox" });
  const headers = h("textarea", { name: "headers", rows: 2, placeholder: "name=value", spellcheck: "false" });
  const encoding = h("select", { name: "encoding" }, h("option", {}, "Text"), h("option", {}, "Hex"));
  const error = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, "Produce");
  key.addEventListener("input", () => { noKey.checked = false; });
  const form = h("form", { class: "control" },
    h("div", { class: "field" }, h("label", {}, "Key", key), h("label", { class: "check" }, noKey, "no key")),
    h("div", { class: "field wide" }, h("label", {}, "Value", value), h("label", { class: "check" }, tombstone, "null (tombstone)")),
    h("div", { class: "field" }, h("label", {}, "Headers, one on each line", headers)),
    h("div", { class: "field" }, h("label", {}, "Key and value are", encoding)),
    h("div", { class: "field" }, h("label", {}, "Partition", partition)),
    error, h("div", { class: "buttons" }, button));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    showError(error, null);
    try {
      const record = {
        key: noKey.checked ? null : encoded(key.value, encoding.value),
        value: tombstone.checked ? null : encoded(value.value, encoding.value),
        headers: headers.value.split("\n").filter((line) => line.trim()).map(headerOf),
      };
      const [position] = await change("/record/produce", { topic, records: [record], ...(partition.value === "" ? {} : { partition: Number(partition.value) }) });
      notify(`The record is at offset ${count(position.offset)} of partition ${position.partition}.`);
    } catch (problem) {
      showError(error, problem);
    } finally {
      button.disabled = false;
    }
  });
  return { element: form, update: (partitions) => updatePartitions(partition, partitions) };
}

function encoded(text, encoding) {
  if (encoding === "Text") return text;
  const digits = text.replace(/\s+/g, "");
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new Error("Hexadecimal text consists of pairs of the digits 0-9 and a-f.");
  const characters = (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(parseInt(pair, 16)));
  return { base64: btoa(characters.join("")) };
}

function headerOf(line) {
  const [header, ...rest] = line.split("=");
  return [header, rest.length ? rest.join("=") : null];
}
