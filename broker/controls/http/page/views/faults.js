// Faults: those of the cluster with their hits, and forms that add one, ready-made or with all options.

import { change, read } from "../api.js";
import { actionButton, confirmed, notify } from "../dialogs.js";
import { fill, h, newId } from "../dom.js";
import { controlForm, fieldOf, openapi, parametersOf } from "../form.js";
import { table } from "../table.js";
import { code, count, counted, name, prose, short, time } from "../text.js";

export const title = "Faults";

const GROUPS = {
  "Which requests": ["api", "topic", "partitions", "node", "client_id", "group", "transactional_id", "acks", "listener", "client_software", "principal", "peer", "connection", "min_version", "max_version"],
  "How often": ["times", "skip", "every", "probability", "after", "until"],
};

const EXCHANGES_SHOWN = 20;

const COLUMNS = [
  { title: "Fault", value: (row) => row.fault },
  { title: "Options", value: (row) => row.options, cell: (row) => code(row.options, 300) },
  { title: "Hits", value: (row) => row.hits, cell: (row) => h("strong", {}, count(row.hits)), number: true },
  { title: "Latest hits", value: (row) => row.exchanges, cell: hits },
  { title: "Requests seen", value: (row) => row.missed, cell: (row) => prose(short(row.missed, 300)) },
  { title: "Action", value: (row) => row.fault, cell: (row) => removeButton(row.fault) },
];

function removeButton(number) {
  return actionButton("Remove", async () => {
    const removed = await change("/fault/remove", { fault: number });
    notify(`Fault ${number} is removed after ${counted(removed.hits, "hit")}.`);
  }, { "aria-label": `Remove fault ${number}` });
}

export function open(main) {
  const list = table("Faults", COLUMNS, (row) => row.fault, "There are no faults. Requests are answered as Kafka answers them.");
  const preset = h("select", {});
  const presetForm = h("div", {});
  const anyForm = h("div", {});
  const clear = actionButton("Remove all", async () => {
    if (await confirmed("Remove all faults?", "Requests that they hold are served.", "Remove")) await change("/fault/clear");
  });
  fill(main, h("h1", {}, title), list.element, h("div", { class: "buttons" }, clear),
    h("details", { class: "panel", open: true }, h("summary", {}, "Add a ready-made fault"), h("label", { class: "choice" }, "Fault", preset), presetForm),
    h("details", { class: "panel" }, h("summary", {}, "Add a fault with any options"), anyForm));
  const added = (fault) => (fault ? `Fault ${fault.fault} is added.` : "The control is done.");
  preset.addEventListener("change", async () => fill(presetForm, await formOf(preset.value, added)));
  showForms(preset, presetForm, anyForm, added).catch((error) => notify(error.message, true));

  return {
    async refresh() {
      const faults = await read("/fault/list");
      list.update(faults);
      clear.hidden = !faults.length;
    },
  };
}

async function showForms(preset, presetForm, anyForm, added) {
  const { paths } = await openapi();
  const presets = Object.keys(paths).filter((path) => path.startsWith("/fault/preset/"));
  fill(preset, presets.map((path) => h("option", { value: path }, path.replace(/.*\//, "").replaceAll("-", " "))));
  fill(presetForm, await formOf(presets[0], added));
  fill(anyForm, ...(await groupedForm(added)));
}

async function formOf(path, added) {
  const { paths } = await openapi();
  const { summary, description } = paths[path].post;
  const fields = (await parametersOf(path)).map((parameter) => fieldOf(parameter));
  return controlForm(path, fields, "Add", added, h("p", { class: "wide" }, prose(`${summary}. ${description ?? ""}`)));
}

/** Returns the form with all options in groups: those of the requests, those of the frequency, and the rest, which say what happens. */
async function groupedForm(added) {
  const apis = newId("apis");
  const fields = (await parametersOf("/fault/add")).map((parameter) => fieldOf(parameter, { suggestions: { api: apis } }));
  const form = controlForm("/fault/add", fields, "Add", added);
  const named = new Set(Object.values(GROUPS).flat());
  const groups = { ...GROUPS, "What happens": fields.map((field) => field.name).filter((each) => !named.has(each)) };
  const sets = ["Which requests", "What happens", "How often"].map((legend) => {
    const members = groups[legend].map((each) => fields.find((field) => field.name === each)).filter(Boolean);
    return h("fieldset", {}, h("legend", {}, legend), members.map((field) => field.element));
  });
  form.prepend(...sets);
  return [h("datalist", { id: apis }, APIS.map((each) => h("option", { value: each }))), form];
}

const APIS = ["Produce", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator", "JoinGroup", "Heartbeat", "LeaveGroup", "SyncGroup", "ConsumerGroupHeartbeat", "ApiVersions", "CreateTopics", "InitProducerId", "AddPartitionsToTxn", "EndTxn", "TxnOffsetCommit"];

/** Returns the latest requests that a fault has hit. */
function hits(fault) {
  if (!fault.exchanges.length) return h("span", { class: "faint" }, "none");
  const latest = fault.exchanges.slice(-EXCHANGES_SHOWN).reverse();
  return h("details", {}, h("summary", {}, `latest ${latest.length}`), h("ul", { class: "plain-list" }, latest.map((each) => h("li", {}, exchangeText(each)))));
}

function exchangeText(exchange) {
  const topics = exchange.topics.map((each) => short(each, 60)).join(" ");
  return [time(exchange.time_ms), ` ${exchange.api} v${exchange.version} to node ${exchange.node} from `, name(exchange.client_id, 60), topics && ` (${topics})`];
}
