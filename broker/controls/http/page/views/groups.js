// Groups: the list, and one group with its members, their partitions, offsets, lag over time and rebalances.

import { read } from "../api.js";
import { lineChart } from "../chart.js";
import { fill, h } from "../dom.js";
import { historyOf, lagText, remember } from "../lag.js";
import { stateMark } from "../marks.js";
import { rebalances } from "../rebalances.js";
import { table } from "../table.js";
import { code, count, name, partitions, short, withoutUuids } from "../text.js";

export const title = "Groups";

const UNKNOWN = 400; // the status of a request for a group that does not exist

export function open(main, [group]) {
  return group ? openGroup(main, group) : openList(main);
}

const lagCell = (row) => (row.lag ? h("strong", {}, count(row.lag)) : lagText(row.lag));

const COLUMNS = [
  { title: "Group", value: (row) => row.group_id, cell: (row) => h("a", { href: `#/groups/${encodeURIComponent(row.group_id)}` }, name(row.group_id)) },
  { title: "Type", value: (row) => row.type },
  { title: "State", value: (row) => row.state, cell: (row) => stateMark(row.state) },
  { title: "Assignor", value: (row) => row.protocol, cell: (row) => name(row.protocol) },
  { title: "Epoch", value: (row) => row.epoch },
  { title: "Coordinator", value: (row) => row.coordinator, cell: (row) => (row.coordinator < 0 ? "none" : row.coordinator) },
  { title: "Members", value: (row) => row.members.length, cell: (row) => count(row.members.length), number: true },
  { title: "Lag", value: (row) => row.lag, cell: lagCell, number: true },
];

function openList(main) {
  const list = table("Groups", COLUMNS, (row) => row.group_id, "There are no groups. A consumer with a group.id creates one.");
  fill(main, h("h1", {}, title), list.element);
  return {
    async refresh() {
      const groups = await read("/group/list");
      remember(groups);
      list.update(groups);
    },
  };
}

const MEMBER_COLUMNS = [
  { title: "Member", value: (row) => [row.member_id, row.instance_id], cell: (row) => [h("span", { title: short(row.member_id) }, code(withoutUuids(row.member_id), 60)), row.instance_id && h("span", { class: "tag" }, "static ", short(row.instance_id, 40))] },
  { title: "Client id", value: (row) => row.client_id, cell: (row) => name(row.client_id, 60) },
  { title: "Host", value: (row) => row.client_host, cell: (row) => code(row.client_host) },
  { title: "Topics", value: (row) => row.topics, cell: (row) => row.topics.map((each) => short(each)).join(", ") },
  { title: "Assignment", value: (row) => row.assignment, cell: (row) => partitions(row.assignment) || h("span", { class: "faint" }, "none") },
];

const OFFSET_COLUMNS = [
  { title: "Topic", value: (row) => row.topic, cell: (row) => name(row.topic) },
  { title: "Partition", value: (row) => row.partition },
  { title: "Committed", value: (row) => row.committed, cell: (row) => (row.committed === null ? h("span", { class: "faint" }, "none") : count(row.committed)), number: true },
  { title: "Lag", value: (row) => row.lag, cell: lagCell, number: true },
  { title: "Metadata", value: (row) => row.metadata, cell: (row) => name(row.metadata, 60) },
];

function openGroup(main, groupId) {
  const facts = h("dl", { class: "facts inline" });
  const chart = h("div", {});
  const members = table("Members", MEMBER_COLUMNS, (row) => row.member_id, "The group has no members.");
  const offsets = table("Offsets", OFFSET_COLUMNS, (row) => `${row.topic} ${row.partition}`, "The group has committed no offsets.");
  const events = rebalances(groupId);
  const known = h("div", { hidden: true }, facts,
    h("h2", {}, "Lag"), chart,
    h("h2", {}, "Members"), members.element,
    h("h2", {}, "Offsets"), offsets.element,
    h("h2", {}, "Rebalances"), events.element);
  fill(main, h("p", { class: "path" }, h("a", { href: "#/groups" }, "Groups")), h("h1", {}, name(groupId)), known);

  return {
    async refresh() {
      const group = await read("/group/show", { group: groupId }).catch((error) => {
        if (error.status === UNKNOWN) known.hidden = true;
        throw error;
      });
      known.hidden = false;
      remember([group]);
      showFacts(facts, group);
      fill(chart, lineChart(historyOf(groupId), "lag"));
      members.update(group.members);
      offsets.update(group.offsets);
      await events.update();
    },
  };
}

function showFacts(place, group) {
  const facts = {
    State: stateMark(group.state), Type: group.type, Assignor: name(group.protocol), Epoch: group.epoch,
    Coordinator: group.coordinator < 0 ? "none" : `node ${group.coordinator}`, Lag: lagText(group.lag),
  };
  fill(place, Object.entries(facts).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))));
}
