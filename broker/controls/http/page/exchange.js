// The details of one entry of the record: its facts, and the decoded request and response.

import { read } from "./api.js";
import { fill, h } from "./dom.js";
import { breakable, bytes, code, dayAndTime, duration, name, short } from "./text.js";

const MAX_MESSAGE_LENGTH = 50_000;

/** Returns a panel: `{element, show(entry, origin), close()}`. Closing returns the focus to the element from which it was opened. */
export function detailsPanel() {
  const heading = h("h2", { tabindex: "-1" });
  const content = h("div", {});
  const closeButton = h("button", { type: "button", onclick: () => close() }, "Close");
  const element = h("aside", { class: "details-panel", "aria-label": "Details", hidden: true }, h("div", { class: "buttons" }, heading, closeButton), content);
  /** @type {HTMLElement | null} */
  let opener = null;
  let shown = null;

  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });

  function close() {
    if (element.contains(document.activeElement) && opener?.isConnected) opener.focus();
    element.hidden = true;
    shown = null;
  }

  return {
    element,
    close,
    async show(entry, origin) {
      opener = origin;
      shown = entry.sequence;
      fill(heading, entry.kind === "event" ? short(entry.event) : `${entry.api} v${entry.version}`);
      fill(content, entry.kind === "event" ? eventFacts(entry) : exchangeFacts(entry));
      element.hidden = false;
      heading.focus();
      if (entry.kind === "event") return;
      const messages = await messagesOf(entry).catch((error) => h("p", { class: "error-text" }, error.message));
      if (shown === entry.sequence) content.append(...[messages].flat());
    },
  };
}

/** Returns elements with the decoded messages, which are not part of the stream, because decoding them takes time. */
async function messagesOf(entry) {
  const [found] = await read("/wire/list", { since: entry.sequence, filter: `sequence=${entry.sequence}`, verbose: true });
  if (!found) return h("p", { class: "faint" }, "The record has dropped this exchange meanwhile.");
  return [messageElement("Request", found.request), messageElement("Response", found.response)].flat();
}

function messageElement(label, message) {
  const text = message === null ? null : JSON.stringify(message, null, 2);
  return [
    h("h3", {}, label),
    text === null ? h("p", { class: "faint" }, "It is not complete in the record, or cannot be decoded.") : h("pre", { tabindex: "0", "aria-label": label }, text.split("\n").map((line) => short(line, 500)).join("\n").slice(0, MAX_MESSAGE_LENGTH)),
  ];
}

function facts(all) {
  return h("dl", { class: "facts" }, Object.entries(all).filter(([, value]) => value !== null && value !== "").map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));
}

function moment(at) {
  return at === null ? "not yet" : `${dayAndTime(at.cluster_ms)}${Math.abs(at.cluster_ms - at.wall_ms) < 1000 ? "" : ` (wall clock ${dayAndTime(at.wall_ms)})`}`;
}

function list(texts) {
  return texts.length ? h("ul", { class: "plain-list" }, texts.map((each) => h("li", {}, short(each, 300)))) : null;
}

function exchangeFacts(entry) {
  return facts({
    Errors: entry.errors.length ? h("strong", { class: "error-text" }, breakable(entry.errors.join(", "))) : null,
    Contents: entry.contents ? breakable(short(entry.contents, 400)) : null,
    Ended: short(entry.ended, 400),
    "Hit by faults": list(entry.faults),
    "Waited for": list(entry.waits),
    Topics: list(entry.topics),
    Groups: list(entry.groups),
    Client: name(entry.client_id),
    Software: short(entry.software),
    Principal: short(entry.principal),
    Node: `${entry.node} (${short(entry.listener)})`,
    Connection: [`${entry.connection} from `, code(entry.peer)],
    "Correlation id": String(entry.correlation_id),
    Received: moment(entry.received),
    Answered: moment(entry.answered),
    Written: entry.response_bytes === null ? null : moment(entry.written),
    Duration: entry.duration_ms === null ? null : duration(Math.max(0, entry.duration_ms)),
    Request: bytes(entry.request_bytes),
    Response: entry.response_bytes === null ? "none" : bytes(entry.response_bytes),
    Number: String(entry.sequence),
  });
}

function eventFacts(entry) {
  const fields = Object.fromEntries(Object.entries(entry.fields).map(([label, value]) => [short(label, 40), short(String(value), 400)]));
  return facts({ Event: breakable(short(entry.text, 1000)), Time: moment(entry.at), Node: entry.node === null ? null : String(entry.node), Connection: entry.connection === null ? null : String(entry.connection), ...fields, Number: String(entry.sequence) });
}
