import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;
const LOOK_MS = 500;
const KEPT_LINES = 100;

/** The id of the process that has started this one. */
const parent = process.ppid;

/** Returns the words with which odradek is started. */
function program() {
  const named = process.env.ODRADEK;
  if (named) {
    return named.endsWith(".pyz") ? ["python3", named] : [named];
  }
  const names = process.platform === "win32" ? ["odradek.exe"] : ["odradek"];
  const onPath = (process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = onPath.find(isExecutable);
  return found ? [found] : ["python3", "-m", "odradek"];
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells whether a test runner has started this process for a file of tests: `node --test` sets the variable, and Jest and Vitest talk to
 * their processes over a channel. Another parent, such as a shell, may end earlier than its program.
 */
function isOfTestRunner() {
  return Boolean(process.env.NODE_TEST_CONTEXT || process.channel);
}

/** A running `odradek serve`. It ends when its standard input does, which the system closes even if this process is killed. */
export class BrokerProcess {
  #child;
  #errors = [];

  /** Starts the process and waits until its listeners accept connections. */
  static async start(options) {
    const started = new BrokerProcess();
    const [command, ...words] = program();
    const serve = ["serve", "--port", "0", "--control", "127.0.0.1:0", "--quiet", "--exit-with-parent", ...options];
    started.#child = spawn(command, [...words, ...serve], { stdio: ["pipe", "pipe", "pipe"] });
    started.#child.stdin.on("error", () => {}); // of a process that has ended
    createInterface(started.#child.stderr).on("line", (line) => started.#keep(line));
    try {
      started.control = await started.#ready();
    } catch (error) {
      started.#child.kill("SIGKILL");
      throw new Error(`odradek was not started: ${error.message}\n${started.#errors.join("\n")}`, { cause: error });
    }
    started.#letNodeEnd();
    if (isOfTestRunner()) {
      started.#endWithTestRunner();
    }
    return started;
  }

  #keep(line) {
    this.#errors.push(line);
    this.#errors.splice(0, this.#errors.length - KEPT_LINES);
  }

  /** Returns the address of the control listener, which the second line contains. */
  #ready() {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`not ready after ${START_TIMEOUT_MS / 1000} s`)), START_TIMEOUT_MS);
      const end = (settle) => (value) => {
        clearTimeout(late);
        settle(value);
      };
      createInterface(this.#child.stdout).on("line", (line) => {
        if (line.startsWith("control=")) {
          end(resolve)(line.slice("control=".length));
        }
      });
      this.#child.on("error", end(() => reject(new Error("install it, or set ODRADEK to the path of the program"))));
      this.#child.on("close", end(() => reject(new Error("it has ended before it was ready"))));
    });
  }

  /** Lets this process end although the broker runs, which then ends, too. */
  #letNodeEnd() {
    this.#child.unref();
    for (const stream of this.#child.stdio) {
      stream.unref();
    }
  }

  /** Ends the broker when the test runner has been killed, because the system lets the process that it has started run on. */
  #endWithTestRunner() {
    const looks = setInterval(() => {
      if (process.ppid !== parent) {
        this.#child.stdin.end();
      }
    }, LOOK_MS);
    looks.unref();
    this.#child.on("exit", () => clearInterval(looks));
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
      return;
    }
    this.#child.ref();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    const ended = once(this.#child, "exit");
    this.#child.stdin.end();
    await ended;
    clearTimeout(late);
  }
}
