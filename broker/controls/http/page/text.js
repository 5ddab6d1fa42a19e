// Shows values of clients as text: names, keys, values, times, sizes. Characters that are invisible or change the order of others become
// visible symbols, and long texts are cut, so that no name can disguise another one or disturb the page.

import { h } from "./dom.js";

export const SHORT = 120;

// eslint-disable-next-line no-control-regex, no-misleading-character-class -- these characters are the ones to replace
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns a text whose control characters, invisible characters and lone surrogates are visible symbols. */
export function visible(text) {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "\u2421" : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Returns a text of at most `limit` characters, with the number of those left out. */
export function short(text, limit = SHORT) {
  const all = String(text ?? "");
  return all.length <= limit ? visible(all) : `${visible(all.slice(0, limit))}\u2026 (${count(all.length)} characters)`;
}

/** Returns the parts of a text that may be broken behind each underscore, such as the name of an error. */
export function breakable(text) {
  return String(text).split(/(?<=_)/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));
}

/** Returns the parts of a text in which `backticks` mark fixed-width text. */
export function prose(text) {
  return String(text ?? "").split(/`([^`]+)`/).map((part, index) => (index % 2 ? h("code", {}, breakable(part)) : part));
}

const UNBROKEN = 40; // longer names may be broken anywhere, so that they do not widen a table

/** Returns an element with a name of a client. A name that is empty is marked as such. */
export function name(text, limit = SHORT) {
  return text ? h("span", { class: `name${String(text).length > UNBROKEN ? " long" : ""}`, dir: "auto" }, breakable(short(text, limit))) : h("span", { class: "faint" }, "none");
}

/** Returns an element with fixed-width text. */
export function code(text, limit = SHORT) {
  return h("code", { class: String(text).length > UNBROKEN && "long", dir: "auto" }, breakable(short(text, limit)));
}

const UUID = /([0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Returns a text in which only the first digits of UUIDs stand, such as those at the end of member ids. */
export function withoutUuids(text) {
  return text.replace(UUID, "$1\u2026");
}

const numbers = new Intl.NumberFormat("en");

export function count(number) {
  return numbers.format(number);
}

/** Returns a number with its noun, such as "1 node" or "2 nodes". */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${unit && number < 100 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
const day = new Intl.DateTimeFormat("sv-SE", { year: "numeric", month: "2-digit", day: "2-digit" });

/** Returns a time of the day in local time, with milliseconds. */
export function timeOfDay(moment) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? String(moment) : clock.format(date);
}

export function dayAndTime(moment) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? String(moment) : `${day.format(date)} ${clock.format(date)}`;
}

/** Returns an element with a time, whose attribute is machine-readable. `written` returns its text. */
export function time(moment, written = dayAndTime) {
  const date = new Date(moment);
  const iso = Number.isNaN(date.getTime()) ? null : date.toISOString();
  return h("time", { datetime: iso, title: iso }, written(moment));
}

export function duration(milliseconds) {
  if (milliseconds < 1000) return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Returns the partitions of an object of topics as text, such as "orders 0 1, payments 2". */
export function partitions(byTopic) {
  return Object.entries(byTopic).map(([topic, indexes]) => `${short(topic)} ${indexes.join(" ")}`).join(", ");
}
