import { Kafka, logLevel } from "kafkajs";
import { odradek } from "odradek";

let kafka;
beforeAll(async () => (kafka = await odradek({ topics: { orders: 4 } })));
afterAll(() => kafka.stop());
beforeEach(() => kafka.reset());

async function order(brokers, value) {
  const client = new Kafka({ brokers, logLevel: logLevel.ERROR });
  const producer = client.producer({ idempotent: true });
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "alice", value }] });
  await producer.disconnect();
}

test("an order reaches its topic", () =>
  kafka.reporting(async () => {
    await order(kafka.brokers, "one apple");
    expect(await kafka.waitForRecords("orders", 1)).toHaveLength(1);
  }));

test("an order is stored once although its acknowledgement is lost", () =>
  kafka.reporting(async () => {
    const { fault } = await kafka.lostAcks("orders");
    await order(kafka.brokers, "two pears");
    await kafka.waitForFault(fault);
    expect(await kafka.records("orders")).toHaveLength(1);
  }));
