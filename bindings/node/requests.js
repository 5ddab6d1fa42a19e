import { MAPS } from "./maps.js";

/** The answer of a cluster that refuses a control (RFC 9457). */
export class ControlError extends Error {
  /** @param {{ status: number, detail: string, parameter?: string, code?: string }} problem */
  constructor(problem) {
    super(problem.detail);
    this.name = "ControlError";
    this.status = problem.status;
    this.parameter = problem.parameter;
    this.code = problem.code;
  }
}

/** Calls a control that only reads, and returns its result. */
export function get(address, path, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(withSnakeCase(options))) {
    for (const each of Array.isArray(value) ? value : [value]) {
      query.append(name, typeof each === "object" ? JSON.stringify(each) : String(each));
    }
  }
  return send(address, `${path}?${query}`, {});
}

/** Calls a control that changes the cluster, and returns its result. */
export function post(address, path, options = {}) {
  const headers = { "Content-Type": "application/json" };
  return send(address, path, { method: "POST", headers, body: JSON.stringify(withSnakeCase(options)) });
}

async function send(address, path, request) {
  const token = process.env.ODRADEK_CONTROL_TOKEN;
  const headers = { ...request.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(`http://${address}${path}`, { ...request, headers });
  const text = await response.text();
  if (!response.ok) {
    throw new ControlError(JSON.parse(text));
  }
  return text ? withCamelCase(JSON.parse(text)) : undefined;
}

function withSnakeCase(options) {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), toJson(value)]));
}

function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a value with bytes in the form in which JSON has them. */
function toJson(value) {
  if (value instanceof Uint8Array) {
    return { base64: Buffer.from(value).toString("base64") };
  }
  if (Array.isArray(value)) {
    return value.map(toJson);
  }
  if (value !== null && typeof value === "object" && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]));
  }
  return value;
}

/** Returns a result with names and bytes as JavaScript has them. */
function withCamelCase(value) {
  if (Array.isArray(value)) {
    return value.map(withCamelCase);
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (typeof value.base64 === "string" && Object.keys(value).length === 1) {
    return Buffer.from(value.base64, "base64");
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => renamed(name, each)));
}

function renamed(name, value) {
  const camelCase = name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return [camelCase, MAPS.has(camelCase) && !Array.isArray(value) ? value : withCamelCase(value)];
}
