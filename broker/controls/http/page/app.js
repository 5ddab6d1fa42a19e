// The frame of the page: chooses the view by the fragment of the address, refreshes it when the cluster has changed, and shows the health
// and the time of the cluster.
//
// A view is a module with `title` and `open(main, parts)`. `parts` are the decoded parts of the fragment after the name of the view. `open`
// returns an object with `refresh()`, which reads data and updates the elements, and optionally `close()`.

import { read } from "./api.js";
import { byId, fill, h, setText } from "./dom.js";
import { follow } from "./live.js";
import { showClock } from "./now.js";
import * as access from "./views/access.js";
import * as clock from "./views/clock.js";
import * as faults from "./views/faults.js";
import * as groups from "./views/groups.js";
import * as nodes from "./views/nodes.js";
import * as overview from "./views/overview.js";
import * as state from "./views/state.js";
import * as topics from "./views/topics.js";
import * as transactions from "./views/transactions.js";
import * as wire from "./views/wire.js";

const VIEWS = { "": overview, topics, groups, transactions, access, wire, faults, clock, nodes, state };
const MIN_PAUSE_MS = 400;
const PAUSES_PER_REFRESH = 5; // a refresh that takes long is repeated less often, so that a large cluster is not kept busy by its page

const main = byId("main");
const health = byId("health");
/** @type {{refresh(): Promise<void>, close?(): void} | null} */
let view = null;
let changed = true;
let refreshing = false;

function partsOf(hash) {
  return hash.replace(/^#\/?/, "").split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

function openView() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const [name, ...parts] = partsOf(location.hash);
  const module = Object.hasOwn(VIEWS, name) ? VIEWS[name] : null;
  view?.close?.();
  view = null;
  fill(main);
  for (const link of byId("views").getElementsByTagName("a")) {
    link.removeAttribute("aria-current");
    if (link.hash !== (name ? `#/${name}` : "#/")) continue;
    link.setAttribute("aria-current", "page");
    link.scrollIntoView({ block: "nearest", inline: "center" });
  }
  document.title = module?.title ? `${module.title} \u00b7 odradek` : "odradek";
  if (!module) {
    fill(main, h("h1", {}, "There is no such view"), h("p", {}, h("a", { href: "#/" }, "Show the overview")));
    return;
  }
  view = module.open(main, parts);
  refreshSoon();
}

/** Refreshes the view and the header, and again as long as the cluster changes, with pauses. */
async function refreshSoon() {
  changed = true;
  if (refreshing) return;
  refreshing = true;
  while (changed && !document.hidden) {
    changed = false;
    const began = performance.now();
    await Promise.all([refresh(view), showHealth()]);
    const pause = Math.max(MIN_PAUSE_MS, (performance.now() - began) * PAUSES_PER_REFRESH);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  refreshing = false;
}

async function refresh(refreshed) {
  try {
    await refreshed?.refresh();
    if (refreshed === view) main.querySelector(":scope > .load-error")?.remove();
  } catch (error) {
    if (refreshed !== view || error.name === "AbortError") return;
    const place = main.querySelector(":scope > .load-error") ?? main.appendChild(h("p", { class: "load-error error-text", role: "alert" }));
    setText(place, error.message);
  }
}

async function showHealth() {
  try {
    const [cluster, state] = await Promise.all([read("/cluster/show"), read("/clock/show")]);
    const problems = cluster.problems.length;
    setText(health, problems ? `${problems} ${problems === 1 ? "problem" : "problems"}` : "Healthy");
    health.className = problems ? "bad" : "good";
    health.title = cluster.problems.join("\n");
    showClock(state);
  } catch (error) {
    setText(health, "No answer");
    health.className = "bad";
    health.title = error.message;
  }
}

function showStream(state) {
  const place = byId("stream");
  setText(place, state === "live" ? "live" : "connection lost");
  place.dataset.state = state;
  if (state === "live") refreshSoon();
}

fill(byId("views"), Object.entries(VIEWS).map(([name, module]) => h("li", {}, h("a", { href: name ? `#/${name}` : "#/" }, module.title))));
window.addEventListener("hashchange", () => {
  openView();
  if (location.hash.startsWith("#/")) main.focus({ preventScroll: true });
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("odradek:changed", refreshSoon);
openView();
follow(() => "/changes/stream", refreshSoon, showStream);
