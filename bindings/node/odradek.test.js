import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ControlError, odradek } from "./index.js";

const failing = fileURLToPath(new URL("fixtures/failing.js", import.meta.url));
const endless = fileURLToPath(new URL("fixtures/endless.js", import.meta.url));

const outside = { ...process.env };
delete outside.NODE_TEST_CONTEXT; // else an inner run reports to this one

async function addressIn(output) {
  for await (const line of createInterface(output)) {
    const found = line.match(/\d+\.\d+\.\d+\.\d+:\d+/);
    if (found) {
      return found[0];
    }
  }
}

async function listens(server) {
  const [host, port] = server.split(":");
  const socket = connect(Number(port), host);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("a cluster has the nodes, topics and settings of its options", async (t) => {
  const kafka = await odradek({ nodes: 3, topics: { orders: [4, 2] }, settings: { "num.partitions": 5 } }, t);
  assert.equal(kafka.brokers.length, 3);
  assert.equal((await kafka.nodes()).length, 3);
  const [orders] = await kafka.topics();
  assert.deepEqual([orders.partitions.length, orders.partitions[0].replicas.length], [4, 2]);
  assert.equal(orders.partitions[0].highWatermark, 0);
  const more = await kafka.createTopic("more", { configs: { "retention.ms": 1000 } });
  assert.deepEqual([more.partitions.length, more.configs], [5, { "retention.ms": "1000" }]);
});

test("controls keep bytes, null and headers, move the clock, and restore snapshots", async (t) => {
  const kafka = await odradek({ topics: { orders: 1 } }, t);
  const binary = Buffer.from([0xff, 0]);
  await kafka.produce("orders", [{ key: "k", value: "é\n", headers: { trace_id: binary } }, { key: binary, value: null }, "three"]);
  const [first, second, third] = await kafka.waitForRecords("orders", 3);
  assert.deepEqual([first.value, first.headers, second.key, second.value, third.value], ["é\n", [["trace_id", binary]], binary, null, "three"]);
  assert.equal((await kafka.records("orders", { offset: 1 })).length, 2);
  const before = Date.parse((await kafka.clock.freeze()).now);
  assert.equal(Date.parse((await kafka.clock.advance("90m")).now) - before, 90 * 60_000);
  const fault = await kafka.fault({ api: ["Produce", "Fetch"], delayMs: 5, times: 2 });
  assert.deepEqual(await kafka.listFaults(), [fault]);
  const snapshot = await kafka.snapshot();
  await kafka.stopNode(2, { graceful: false });
  assert.equal((await kafka.nodes())[1].state, "stopped");
  await kafka.startNode(2);
  await kafka.deleteTopic("orders");
  await kafka.restore(snapshot.id);
  assert.equal((await kafka.records("orders")).length, 3);
  await assert.rejects(kafka.stopNode(9), (error) => error instanceof ControlError && error.status === 400 && error.parameter === "node");
});

test("a shared cluster is reset and never shared at the same time", async () => {
  const options = { nodes: 1, topics: { orders: 1 }, shared: true };
  const first = await odradek(options);
  const other = await odradek(options);
  assert.notEqual(first.bootstrapServers, other.bootstrapServers);
  await first.produce("orders", ["one"]);
  await first.stop();
  const again = await odradek(options);
  assert.equal(again.bootstrapServers, first.bootstrapServers);
  assert.deepEqual(await again.records("orders"), []);
});

test("a cluster ends with its block or by stop, and can be used by others", async () => {
  const kafka = await odradek({ nodes: 1 });
  process.env.ODRADEK_CONTROL = kafka.control;
  const attached = await odradek({ topics: { orders: [3, 1] } });
  delete process.env.ODRADEK_CONTROL;
  await attached.stop();
  assert.equal((await kafka.topics())[0].partitions.length, 3);
  assert.equal(attached.bootstrapServers, kafka.bootstrapServers);
  assert.ok(await listens(kafka.brokers[0]));
  await kafka[Symbol.asyncDispose]();
  assert.ok(!(await listens(kafka.brokers[0])));
  await assert.rejects(odradek({ args: ["--no-such-option"] }), /--no-such-option/);
});

test("the report of a failed test names the cause, that of another one is not printed", async () => {
  const child = spawn(process.execPath, ["--test", failing], { env: outside });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  assert.equal(code, 1);
  for (const expected of ["the order is missing", "stopping node 1", "0 hits; no Produce request seen"]) {
    assert.ok(output.includes(expected), output);
  }
  assert.ok(!output.includes("stopping node 2"), output);
});

test("reporting adds the report to an error", async (t) => {
  const kafka = await odradek({ nodes: 1 }, t);
  await assert.rejects(
    kafka.reporting(async () => assert.equal((await kafka.createTopic("orders")).name, "payments")),
    /payments[^]*what happened on the cluster/,
  );
});

for (const [name, words] of Object.entries({ "process": [], "node --test": ["--test", "--test-reporter=tap"] })) {
  test(`a killed ${name} leaves no broker behind`, async () => {
    const child = spawn(process.execPath, [...words, endless], { env: outside, stdio: ["ignore", "pipe", "inherit"] });
    const server = await addressIn(child.stdout);
    assert.ok(await listens(server));
    child.kill("SIGKILL");
    await once(child, "exit");
    child.stdout.destroy();
    const late = Date.now() + 10_000;
    while (await listens(server)) {
      assert.ok(Date.now() < late, "the broker still listens");
    }
  });
}
