// Keys, values and headers of records. JSON has them as text, or as {"base64": text} if they are not UTF-8.

import { visible } from "./text.js";

export const FORMATS = ["Auto", "Text", "JSON", "Hex"];

/** Returns the bytes of a value of JSON. */
export function bytesOf(value) {
  if (typeof value === "string") return new TextEncoder().encode(value);
  return Uint8Array.from(atob(value.base64), (character) => character.charCodeAt(0));
}

export function sizeOf(value) {
  if (typeof value !== "string") return (value.base64.length / 4) * 3 - (value.base64.endsWith("==") ? 2 : value.base64.endsWith("=") ? 1 : 0);
  return /^\p{ASCII}*$/u.test(value) ? value.length : bytesOf(value).length;
}

/** Returns a value as text in a format, for at most `limit` characters or bytes of it. */
export function shown(value, format, limit) {
  if (format === "Hex" || (format === "Auto" && typeof value !== "string")) return hex(value, limit);
  if (format === "JSON" || format === "Auto") {
    const pretty = typeof value === "string" && value.length <= limit ? prettyJson(value) : null;
    if (pretty !== null) return pretty;
  }
  return lines(text(value, limit));
}

function text(value, limit) {
  return typeof value === "string" ? value.slice(0, limit) : new TextDecoder().decode(bytesOf(value).subarray(0, limit));
}

/** Returns text with visible control characters, except for line ends and tabs. */
function lines(all) {
  return all.split(/(\r?\n|\t)/).map((part, index) => (index % 2 ? part : visible(part))).join("");
}

/** Returns an indented document, or null if the text is no JSON object or array. */
function prettyJson(all) {
  if (!/^\s*[[{]/.test(all)) return null;
  try {
    return lines(JSON.stringify(JSON.parse(all, exactNumber), null, 2));
  } catch {
    return null;
  }
}

/** Returns a number of a document with all of its digits, where the browser can, because a long of 64 bits has more than a number of JavaScript. */
function exactNumber(_key, value, context) {
  const { rawJSON } = /** @type {any} */ (JSON);
  return typeof value === "number" && context?.source && rawJSON ? rawJSON(context.source) : value;
}

/** Returns a hexadecimal dump with 16 bytes on each line. */
function hex(value, limit) {
  const all = bytesOf(typeof value === "string" ? value.slice(0, limit) : value).subarray(0, limit);
  const rows = [];
  for (let start = 0; start < all.length; start += 16) {
    const row = [...all.subarray(start, start + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const characters = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    rows.push(`${start.toString(16).padStart(6, "0")}  ${digits.padEnd(47)}  ${characters}`);
  }
  return rows.join("\n");
}
