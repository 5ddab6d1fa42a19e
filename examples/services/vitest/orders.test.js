import { Kafka, logLevel } from "kafkajs";
import { odradek } from "odradek";
import { expect, test } from "vitest";

async function order(brokers, value) {
  const client = new Kafka({ brokers, logLevel: logLevel.ERROR });
  const producer = client.producer({ idempotent: true });
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "alice", value }] });
  await producer.disconnect();
}

test("an order reaches its topic", async (context) => {
  const kafka = await odradek({ topics: { orders: 4 } }, context);
  await order(kafka.brokers, "one apple");
  expect(await kafka.waitForRecords("orders", 1)).toHaveLength(1);
});

test("an order is stored once although its acknowledgement is lost", async (context) => {
  const kafka = await odradek({ topics: { orders: 4 } }, context);
  const { fault } = await kafka.lostAcks("orders");
  await order(kafka.brokers, "two pears");
  await kafka.waitForFault(fault);
  expect(await kafka.records("orders")).toHaveLength(1);
});
