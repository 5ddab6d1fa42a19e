import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";

const brokers = process.env.BOOTSTRAP_SERVERS.split(",");
const kafka = new Kafka({ clientId: "orders", brokers, logLevel: logLevel.ERROR });

test("an order reaches the shop", async () => {
  const producer = kafka.producer();
  await producer.connect();
  const messages = [{ key: "alice", value: "one apple" }];
  await producer.send({ topic: "orders", messages });
  await producer.disconnect();

  const consumer = kafka.consumer({ groupId: "shop", maxWaitTimeInMs: 500 });
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  const value = await new Promise((resolve) => {
    const eachMessage = async ({ message }) => resolve(message.value.toString());
    consumer.run({ eachMessage });
  });
  await consumer.disconnect();
  assert.equal(value, "one apple");
});
