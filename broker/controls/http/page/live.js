// Reads streams of server-sent events. `EventSource` cannot send the header with the token, so that the stream is read with `fetch`.

import { request } from "./api.js";

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;

/**
 * Reads a stream until `close` of the returned object is called, and connects again when it ends. `path()` returns the path of the stream or a promise of it,
 * `onEvent(type, data)` receives each event, `onState("live" | "lost")` the state of the connection. Nothing is read while the page is
 * hidden, because browsers allow few connections to one host.
 */
export function follow(path, onEvent, onState) {
  /** @type {AbortController | null} */
  let controller = null;
  let closed = false;

  async function run() {
    for (let wait = FIRST_WAIT_MS; !closed && !document.hidden; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      const { signal } = (controller = new AbortController());
      try {
        const response = await request(await path(), { signal });
        wait = FIRST_WAIT_MS;
        onState("live");
        await readEvents(response.body, onEvent);
      } catch (error) {
        if (signal.aborted) return;
        if (error.status >= 400) {
          onState("refused", error);
          return;
        }
      }
      onState("lost");
      await pause(wait);
    }
  }

  function onVisibility() {
    if (document.hidden) controller?.abort();
    else run();
  }

  document.addEventListener("visibilitychange", onVisibility);
  run();
  return {
    close() {
      closed = true;
      document.removeEventListener("visibilitychange", onVisibility);
      controller?.abort();
    },
  };
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Calls `onEvent` with each event of a stream. Comments, which keep the connection open, are ignored. */
async function readEvents(stream, onEvent) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) emit(part, onEvent);
  }
}

function emit(part, onEvent) {
  let type = "message";
  const data = [];
  for (const line of part.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) type = line.slice(6).trim();
  }
  if (data.length) onEvent(type, data.join("\n"));
}
