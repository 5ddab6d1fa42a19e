// Calls the controls of the cluster, by the same routes as every other client. Asks for the token if the listener needs one.

import { askForToken } from "./dialogs.js";

const TOKEN = "odradek-token";

/** An error of a control, or a cluster that does not answer. `status` is 0 for the latter. */
export class ApiError extends Error {
  constructor(message, status, parameter) {
    super(message);
    this.status = status;
    this.parameter = parameter;
  }
}

/** Returns the result of a control that only reads. Parameters that are null or undefined are left out. */
export async function read(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.append(name, value);
  }
  const response = await request(query.size ? `${path}?${query}` : path, { signal });
  return response.json();
}

/** Carries out a control that changes the cluster, and returns its result. */
export async function change(path, parameters = {}) {
  const headers = { "Content-Type": "application/json" };
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(parameters) });
  document.dispatchEvent(new Event("odradek:changed"));
  return response.status === 204 ? null : response.json();
}

/** Returns the response to a request with the token. Raises ApiError for any other than a success. */
export async function request(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { ...options.headers, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) };
    const response = await fetched(path, { ...options, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw await errorOf(response);
    await newToken(token);
  }
}

async function fetched(path, options) {
  try {
    return await fetch(path, { ...options, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The cluster does not answer.", 0);
  }
}

async function errorOf(response) {
  const problem = await response.json().catch(() => ({}));
  return new ApiError(problem.detail ?? `${response.status} ${response.statusText}`, response.status, problem.parameter);
}

/** @type {Promise<string> | null} */
let asking = null;

/** Returns when there is another token than the refused one. Several requests wait for the same dialog. */
async function newToken(refused) {
  if (sessionStorage.getItem(TOKEN) !== refused) return;
  asking ??= validToken(refused !== null).finally(() => {
    asking = null;
  });
  sessionStorage.setItem(TOKEN, await asking);
}

/** Returns a token that can be sent in a header, because no other can be right. */
async function validToken(wasRefused) {
  let token = await askForToken(wasRefused);
  while (!/^[\x21-\x7e]{1,4096}$/.test(token)) token = await askForToken(true);
  return token;
}
