// Nodes: one card for each, with the actions that its state allows.

import { change, read } from "../api.js";
import { actionButton, confirmed, notify } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { controlForm, fieldOf, parametersOf } from "../form.js";
import { nodeState } from "../marks.js";
import { code, count, counted, short } from "../text.js";

export const title = "Nodes";

const STOP = ["Stop", "/node/stop", (node) => `Node ${node} is stopped.`];
const KILL = ["Kill", "/node/stop", (node) => `Node ${node} has crashed. Its partitions move when its session expires.`, { graceful: false }];
const START = ["Start", "/node/start", (node) => `Node ${node} runs.`];
const PAUSE = ["Pause", "/node/pause", (node) => `Node ${node} is paused.`];
const RESUME = ["Resume", "/node/resume", (node) => `Node ${node} runs again.`];
const ISOLATE = ["Isolate", "/node/isolate", (node) => `Node ${node} is isolated.`];
const REJOIN = ["Rejoin", "/node/rejoin", (node) => `Node ${node} has rejoined the cluster.`];
const ACTIONS = { running: [STOP, KILL, PAUSE, ISOLATE], stopped: [START], paused: [RESUME, KILL], isolated: [REJOIN, KILL] };

export function open(main) {
  const cards = h("ul", { class: "cards", "aria-label": "Nodes" });
  const addition = h("div", {});
  fill(main, h("h1", {}, title), cards, h("details", { class: "panel" }, h("summary", {}, "Add a node"), addition));
  parametersOf("/node/add").then((parameters) => {
    const fields = parameters.map((parameter) => fieldOf(parameter));
    fill(addition, controlForm("/node/add", fields, "Add", (node) => `Node ${node} is part of the cluster.`));
  }).catch((error) => notify(error.message, true));
  const kept = new Map();

  return {
    async refresh() {
      const nodes = await read("/node/list");
      for (const id of [...kept.keys()].filter((each) => !nodes.some((node) => node.node === each))) {
        kept.get(id).element.remove();
        kept.delete(id);
      }
      for (const node of nodes) {
        if (!kept.has(node.node)) kept.set(node.node, newCard());
        updateCard(kept.get(node.node), node);
        cards.append(kept.get(node.node).element);
      }
    },
  };
}

function newCard() {
  const parts = { heading: h("h2", {}), facts: h("dl", { class: "facts" }), buttons: h("div", { class: "buttons" }), facts_text: "", state: "" };
  parts.element = h("li", { class: "card" }, parts.heading, parts.facts, parts.buttons);
  return parts;
}

/** Updates a card. Its buttons are only replaced if the state of the node has changed, so that the focus stays. */
function updateCard(card, node) {
  const text = JSON.stringify(node);
  if (text === card.facts_text) return;
  card.facts_text = text;
  fill(card.heading, `Node ${node.node} `, nodeState(node), node.controller && h("span", { class: "tag" }, "controller"));
  fill(card.facts,
    h("dt", {}, "Listeners"), h("dd", {}, node.listeners.map((each) => [code(each.advertised), " ", h("span", { class: "faint" }, short(each.name)), " "])),
    h("dt", {}, "Leads"), h("dd", {}, `${count(node.leaders)} of ${counted(node.replicas, "partition")}`),
    h("dt", {}, "Out of sync"), h("dd", {}, counted(node.out_of_sync, "replica")),
    h("dt", {}, "Connections"), h("dd", {}, node.connections),
    node.rack && [h("dt", {}, "Rack"), h("dd", {}, short(node.rack))]);
  if (node.state === card.state) return;
  card.state = node.state;
  fill(card.buttons, ACTIONS[node.state].map((action) => stateButton(node.node, ...action)), removeButton(node.node));
}

function stateButton(node, label, path, done, parameters) {
  return actionButton(label, async () => {
    await change(path, { node, ...parameters });
    notify(done(node));
  }, { "aria-label": `${label} node ${node}` });
}

function removeButton(node) {
  return actionButton("Remove", async () => {
    if (!(await confirmed(`Remove node ${node}?`, "Its replicas move to the other nodes, and its ports are released.", "Remove"))) return;
    await change("/node/remove", { node });
    notify(`Node ${node} is removed.`);
  }, { class: "danger", "aria-label": `Remove node ${node}` });
}
