import { Controls } from "./controls.js";

export * from "./controls.js";

/** The answer of a cluster that refuses a control (RFC 9457). */
export class ControlError extends Error {
  /** 400 for an invalid argument, 409 for what the cluster refuses, 504 for a condition that did not become true in time. */
  readonly status: number;
  /** The name of the invalid argument. */
  readonly parameter?: string;
  /** The name of Kafka's error code. */
  readonly code?: string;
}

export interface ClusterOptions {
  /** The number of nodes, by default 2. */
  nodes?: number;
  /** Topics with their numbers of partitions, or of partitions and replicas. */
  topics?: Record<string, number | [partitions: number, replicas: number]>;
  /** Settings of Kafka for all nodes. */
  settings?: Record<string, string | number | boolean>;
  /** Further arguments of `odradek serve`, such as "--as-version", "3.9". */
  args?: string[];
  /**
   * Whether the process is kept after the test for another one that asks for the same cluster, which is then reset in milliseconds. Tests
   * that run at the same time never share a process.
   */
  shared?: boolean;
  /**
   * The address of the control listener of a running cluster, which is used instead of a new one, with the topics of the options. By default
   * it is the variable ODRADEK_CONTROL, which `odradek serve --exec` and `odradek explore --exec` set.
   */
  control?: string;
}

/** The context of a test of node:test or Vitest. */
export interface TestContext {
  after?(hook: () => Promise<void>): void;
  onTestFinished?(hook: () => Promise<void>): void;
}

/** A running cluster: real brokers in a process of their own, which ends with this one. */
export class Odradek extends Controls {
  /** The addresses of all nodes, separated by commas. */
  readonly bootstrapServers: string;
  /** The addresses of all nodes. */
  readonly brokers: string[];
  /** Returns what happened on the cluster since this object was made. */
  report(): Promise<string>;
  /** Runs a function. If it throws an error, what has happened meanwhile becomes a part of the error's message. */
  reporting<T>(body: () => T | Promise<T>): Promise<T>;
  /** Stops the cluster. A shared one is kept for other tests of this process. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a cluster. With the context of a test, the cluster is stopped after the test, and the report is printed if the test has failed.
 *
 * The program is found as the variable ODRADEK says, as odradek on the PATH, or as the module of python3.
 */
export function odradek(options?: ClusterOptions, test?: TestContext): Promise<Odradek>;
