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

  /** Runs a function. If it throws an error, the report becomes a part of the error's message. */
  async reporting(body) {
    try {
      return await body();
    } catch (error) {
      if (error instanceof Error) {
        error.message += `\n${await this.report()}`;
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

async function take({ control, shared = false, ...options }) {
  if (control) {
    return attached(control, async () => {});
  }
  const words = argumentsOf(options);
  if (!shared) {
    const process = await BrokerProcess.start(words);
    return attached(process.control, () => process.stop());
  }
  const key = JSON.stringify(words);
  const processes = idle.get(key) ?? idle.set(key, []).get(key);
  const former = processes.pop();
  const process = former ?? (await BrokerProcess.start(words));
  const kafka = await attached(process.control, async () => processes.push(process));
  if (former) {
    await kafka.reset();
  }
  return kafka;
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
