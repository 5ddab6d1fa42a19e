// The overview: problems, sizes, nodes with their listeners, leaders, and connections.

import { read } from "../api.js";
import { actionButton, notify } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { remember } from "../lag.js";
import { nodeState } from "../marks.js";
import { table } from "../table.js";
import { bytes, code, count, counted, name, short } from "../text.js";

export const title = "Overview";

export function open(main) {
  const problems = h("div", { class: "problems", role: "status" });
  const tiles = h("dl", { class: "tiles" });
  const addresses = h("div", { class: "addresses" });
  const nodes = table("Nodes", NODE_COLUMNS, (row) => row.node, "The cluster has no nodes.");
  const connections = table("Connections", CONNECTION_COLUMNS, (row) => row.connection, "No client is connected.");
  fill(main, h("h1", {}, title), problems, tiles, addresses,
    h("h2", {}, "Nodes and listeners"), nodes.element,
    h("h2", {}, "Connections"), connections.element);
  let shown = "";

  return {
    async refresh() {
      const [cluster, nodeList, connectionList, groups] = await Promise.all([
        read("/cluster/show"), read("/node/list"), read("/connection/list"), read("/group/list"),
      ]);
      remember(groups);
      const lag = groups.reduce((sum, group) => sum + group.lag, 0);
      const summary = JSON.stringify([cluster, lag]);
      if (summary !== shown) {
        shown = summary;
        showProblems(problems, cluster.problems);
        showTiles(tiles, cluster, lag);
        showAddresses(addresses, cluster);
      }
      nodes.update(nodeList);
      connections.update(connectionList);
    },
  };
}

const NODE_COLUMNS = [
  { title: "Node", value: (row) => [row.node, row.controller, row.rack], cell: (row) => [h("strong", {}, row.node), row.controller && h("span", { class: "tag" }, "controller"), row.rack && h("span", { class: "tag" }, "rack ", short(row.rack))] },
  { title: "State", value: (row) => [row.state, row.fenced], cell: nodeState },
  { title: "Listeners", value: (row) => row.listeners, cell: listeners },
  { title: "Leaders", value: (row) => row.leaders, cell: (row) => count(row.leaders), number: true },
  { title: "Replicas", value: (row) => row.replicas, cell: (row) => count(row.replicas), number: true },
  { title: "Out of sync", value: (row) => row.out_of_sync, cell: (row) => (row.out_of_sync ? h("span", { class: "warn" }, count(row.out_of_sync)) : "0"), number: true },
  { title: "Connections", value: (row) => row.connections, cell: (row) => count(row.connections), number: true },
];

const CONNECTION_COLUMNS = [
  { title: "Connection", value: (row) => row.connection },
  { title: "Client id", value: (row) => row.client_id, cell: (row) => name(row.client_id, 60) },
  { title: "Software", value: (row) => [row.software_name, row.software_version], cell: (row) => name(`${row.software_name} ${row.software_version}`.trim(), 60) },
  { title: "Peer", value: (row) => `${row.host}:${row.port}`, cell: (row) => code(`${row.host}:${row.port}`) },
  { title: "Node", value: (row) => [row.node, row.listener], cell: (row) => [row.node, " ", h("span", { class: "faint" }, short(row.listener))] },
  { title: "Principal", value: (row) => row.principal, cell: (row) => name(row.principal, 60) },
  { title: "Waits for", value: (row) => row.waits_for, cell: (row) => (row.waits_for ? short(row.waits_for) : h("span", { class: "faint" }, "nothing")) },
];

function listeners(row) {
  return h("ul", { class: "plain-list" }, row.listeners.map((each) => h("li", {}, code(each.advertised), " ", h("span", { class: "faint" }, short(each.name), each.security_protocol !== each.name && ` (${each.security_protocol})`))));
}

function showProblems(place, problems) {
  place.className = problems.length ? "problems bad" : "problems good";
  if (!problems.length) fill(place, "Healthy: all nodes run, and all replicas are in sync.");
  else fill(place, h("strong", {}, counted(problems.length, "problem")), h("ul", {}, problems.map((each) => h("li", {}, each))));
}

function showTiles(place, cluster, lag) {
  const memory = cluster.max_memory_bytes === null ? bytes(cluster.log_bytes) : `${bytes(cluster.log_bytes)} of ${bytes(cluster.max_memory_bytes)}`;
  const tiles = {
    Nodes: count(cluster.nodes), Topics: count(cluster.topics), Partitions: count(cluster.partitions), Groups: count(cluster.groups),
    "Total lag": count(lag), Connections: count(cluster.connections), Logs: memory,
  };
  fill(place, Object.entries(tiles).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))));
}

function showAddresses(place, cluster) {
  const copy = navigator.clipboard && actionButton("Copy", async () => {
    await navigator.clipboard.writeText(cluster.bootstrap_servers);
    notify("The addresses are on the clipboard.");
  }, { "aria-label": "Copy bootstrap.servers" });
  fill(place, h("dl", { class: "facts" },
    h("dt", {}, "bootstrap.servers"), h("dd", {}, code(cluster.bootstrap_servers, 400), " ", copy),
    h("dt", {}, "Cluster id"), h("dd", {}, code(cluster.cluster_id)),
    h("dt", {}, "odradek"), h("dd", {}, cluster.version)));
}
