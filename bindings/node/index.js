import { BrokerProcess } from "./broker_process.js";
import { Controls } from "./controls.js";
import { report } from "./report.js";

export { ControlError } from "./requests.js";

/** The processes of shared clusters that nothing uses at the moment, by their arguments. */
const idle = new Map();

/** A running cluster. */
export class Odradek extends Controls {
  #release;
  #mark;

  constructor(control, bootstrapServers, mark, release) {
    super(control);
    this.bootstrapServers = bootstrapServers;
    this.brokers = bootstrapServers.split(",");
    this.#mark = mark;
    this.#release = release;
  }

  /** Returns what happened on the cluster since this object was made. */
  report() {
    return report(this, this.#mark);
  }

  /** Runs a function. If it throws an error, what has happened meanwhile becomes a part of the error's message. */
  async reporting(body) {
    const mark = await this.wire.mark();
    try {
      return await body();
    } catch (error) {
      if (error instanceof Error) {
        error.message += `\n${await report(this, mark)}`;
      }
      throw error;
    }
  }

  async stop() {
    const release = this.#release;
    this.#release = () => {};
    await release();
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}

/** Starts a cluster. */
export async function odradek(options = {}, test = undefined) {
  const kafka = await take(options);
  // node:test calls functions after the test, and its context then says whether the test has passed. Vitest has the result in a task.
  test?.after?.(() => end(kafka, !test.passed, (text) => test.diagnostic(text)));
  test?.onTestFinished?.(() => end(kafka, test.task.result?.state === "fail", (text) => console.error(text)));
  return kafka;
}

async function end(kafka, hasFailed, print) {
  try {
    if (hasFailed) {
      print(await kafka.report());
    }
  } finally {
    await kafka.stop();
  }
}

async function take({ control = process.env.ODRADEK_CONTROL, shared = false, ...options }) {
  if (control) {
    const kafka = await attached(control, async () => {});
    await createMissingTopics(kafka, options.topics ?? {});
    return kafka;
  }
  const words = argumentsOf(options);
  if (!shared) {
    const broker = await BrokerProcess.start(words);
    return attached(broker.control, () => broker.stop());
  }
  const key = JSON.stringify(words);
  const brokers = idle.get(key) ?? idle.set(key, []).get(key);
  const former = brokers.pop();
  const broker = former ?? (await BrokerProcess.start(words));
  const kafka = await attached(broker.control, async () => brokers.push(broker));
  if (former) {
    await kafka.reset();
  }
  return kafka;
}

/** Creates the topics of the options that a running cluster does not have. */
async function createMissingTopics(kafka, topics) {
  const existing = new Set((await kafka.topics()).map(({ name }) => name));
  for (const [name, size] of Object.entries(topics)) {
    if (!existing.has(name)) {
      const [partitions, replicationFactor] = [size].flat();
      await kafka.createTopic(name, { partitions, replicationFactor });
    }
  }
}

async function attached(control, release) {
  const controls = new Controls(control);
  const [{ bootstrapServers }, mark] = await Promise.all([controls.status(), controls.wire.mark()]);
  return new Odradek(control, bootstrapServers, mark, release);
}

/** Returns the arguments of `odradek serve` for the options of a cluster. */
function argumentsOf({ nodes = 2, topics = {}, settings = {}, args = [] }) {
  const ofTopics = Object.entries(topics).map(([name, partitions]) => ["--topic", [name, partitions].flat().join(":")]);
  const ofSettings = Object.entries(settings).map(([key, value]) => ["--set", `${key}=${value}`]);
  return ["--nodes", String(nodes), ...ofTopics.flat(), ...ofSettings.flat(), ...args];
}
