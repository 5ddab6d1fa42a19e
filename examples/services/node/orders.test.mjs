import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { odradek } from "odradek";

async function order(brokers, value) {
  const client = new Kafka({ brokers, logLevel: logLevel.ERROR });
  const producer = client.producer({ idempotent: true });
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "alice", value }] });
  await producer.disconnect();
}

test("an order reaches its topic", async (t) => {
  const kafka = await odradek({ topics: { orders: 4 } }, t);
  await order(kafka.brokers, "one apple");
  const [record] = await kafka.waitForRecords("orders", 1);
  assert.equal(record.value, "one apple");
});

test("an order is stored once although its acknowledgement is lost", async (t) => {
  const kafka = await odradek({ topics: { orders: 4 } }, t);
  const { fault } = await kafka.lostAcks("orders");
  await order(kafka.brokers, "two pears");
  await kafka.waitForFault(fault);
  assert.equal((await kafka.records("orders")).length, 1);
});
