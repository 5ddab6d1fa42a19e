// Topics: the list, and one topic with its partitions and records (`records.js`).

import { change, read } from "../api.js";
import { actionButton, confirmed, notify } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { controlForm, fieldOf, parametersOf } from "../form.js";
import { table } from "../table.js";
import { bytes, code, count, name, short } from "../text.js";
import { produceForm, recordBrowser } from "./records.js";

export const title = "Topics";

export function open(main, [topic]) {
  return topic ? openTopic(main, topic) : openList(main);
}

const sum = (topic, number) => topic.partitions.reduce((total, each) => total + number(each), 0);
const unsynced = (topic) => topic.partitions.filter((each) => each.isr.length < each.replicas.length).length;
const leaderless = (topic) => topic.partitions.filter((each) => each.leader < 0).length;

const COLUMNS = [
  { title: "Topic", value: (row) => [row.name, row.internal], cell: (row) => [h("a", { href: `#/topics/${encodeURIComponent(row.name)}` }, name(row.name)), row.internal && h("span", { class: "tag" }, "internal")] },
  { title: "Partitions", value: (row) => row.partitions.length, cell: (row) => count(row.partitions.length), number: true },
  { title: "Replicas", value: (row) => row.partitions[0]?.replicas.length ?? 0, number: true },
  { title: "Offsets", value: (row) => sum(row, (each) => each.high_watermark - each.start_offset), cell: (row) => count(sum(row, (each) => each.high_watermark - each.start_offset)), number: true },
  { title: "Size", value: (row) => sum(row, (each) => each.size_bytes), cell: (row) => bytes(sum(row, (each) => each.size_bytes)), number: true },
  { title: "State", value: (row) => [leaderless(row), unsynced(row)], cell: topicState },
  { title: "Configs", value: (row) => row.configs, cell: configs },
];

function topicState(topic) {
  if (leaderless(topic)) return h("span", { class: "state bad" }, `${leaderless(topic)} without leader`);
  if (unsynced(topic)) return h("span", { class: "state busy" }, `${unsynced(topic)} not in sync`);
  return h("span", { class: "state good" }, "in sync");
}

function configs(topic) {
  const all = Object.entries(topic.configs);
  return all.length ? all.map(([key, value]) => h("span", { class: "config" }, code(`${key}=${value}`, 60))) : h("span", { class: "faint" }, "defaults");
}

function openList(main) {
  const filter = h("input", { type: "search", placeholder: "part of a name", autocomplete: "off" });
  const internal = h("input", { type: "checkbox" });
  const creation = h("div", {});
  const list = table("Topics", COLUMNS, (row) => row.name, "No topic matches. Create one here, or with any client.");
  let all = [];
  const show = () => list.update(all.filter((each) => (internal.checked || !each.internal) && each.name.includes(filter.value)));
  filter.addEventListener("input", show);
  internal.addEventListener("change", show);
  fill(main, h("h1", {}, title),
    h("div", { class: "toolbar" }, h("label", {}, "Filter", filter), h("label", { class: "check" }, internal, "Internal topics")),
    list.element,
    h("details", { class: "panel" }, h("summary", {}, "Create a topic"), creation));
  parametersOf("/topic/create").then((parameters) => {
    const fields = parameters.map((parameter) => fieldOf(parameter));
    fill(creation, controlForm("/topic/create", fields, "Create", (topic) => `Topic ${short(topic.name)} has ${topic.partitions.length} partitions.`));
  }).catch((error) => notify(error.message, true));

  return {
    async refresh() {
      all = await read("/topic/list");
      show();
    },
  };
}

const PARTITION_COLUMNS = [
  { title: "Partition", value: (row) => row.partition },
  { title: "Leader", value: (row) => row.leader, cell: (row) => (row.leader < 0 ? h("span", { class: "state bad" }, "none") : row.leader) },
  { title: "Epoch", value: (row) => row.leader_epoch },
  { title: "Replicas", value: (row) => row.replicas, cell: (row) => row.replicas.join(" ") },
  { title: "In sync", value: (row) => [row.isr, row.replicas], cell: (row) => (row.isr.length < row.replicas.length ? h("span", { class: "state busy" }, row.isr.join(" ") || "none") : row.isr.join(" ")) },
  { title: "Start", value: (row) => row.start_offset, cell: (row) => count(row.start_offset), number: true },
  { title: "High watermark", value: (row) => row.high_watermark, cell: (row) => count(row.high_watermark), number: true },
  { title: "End", value: (row) => row.end_offset, cell: (row) => count(row.end_offset), number: true },
  { title: "Size", value: (row) => row.size_bytes, cell: (row) => bytes(row.size_bytes), number: true },
];

function openTopic(main, topicName) {
  const facts = h("div", { class: "configs" });
  const partitions = table(`Partitions of ${topicName}`, PARTITION_COLUMNS, (row) => row.partition, "The topic has no partitions.");
  const browser = recordBrowser(topicName);
  const produce = produceForm(topicName);
  const remove = actionButton("Delete the topic", async () => {
    if (!(await confirmed("Delete the topic?", `Topic ${short(topicName)} is deleted with its records and the offsets of its groups.`, "Delete"))) return;
    await change("/topic/delete", { topic: topicName });
    notify(`Topic ${short(topicName)} is deleted.`);
    location.hash = "#/topics";
  }, { class: "danger" });
  const known = h("div", { hidden: true }, facts,
    h("h2", {}, "Partitions"), partitions.element,
    h("h2", {}, "Records"), browser.element,
    h("details", { class: "panel" }, h("summary", {}, "Produce a record"), produce.element),
    h("div", { class: "buttons" }, remove));
  fill(main, h("p", { class: "path" }, h("a", { href: "#/topics" }, "Topics")), h("h1", {}, name(topicName)), known);

  return {
    async refresh() {
      const topic = (await read("/topic/list")).find((each) => each.name === topicName);
      known.hidden = !topic;
      if (!topic) throw new Error(`There is no topic ${short(topicName)}.`);
      fill(facts, configs(topic));
      partitions.update(topic.partitions);
      produce.update(topic.partitions);
      await browser.update(topic.partitions);
    },
  };
}
