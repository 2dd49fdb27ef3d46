import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { freePort } from "./free-port.ts";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** A real Redis of one test file, on a port of its own, in a temporary folder. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** With more arguments, such as `--requirepass x`. */
  start(...more: string[]): Promise<void>;
  /** Without what it had stored. */
  startEmpty(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

function findRedis(): string | undefined {
  const places = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "redis-server"));
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Tests with a real Redis. Where it is not installed, one skipped test says so; with CI=true, that is a failure. */
export function describeRedis(name: string, body: (redis: TestRedis) => void): void {
  const program = findRedis();
  describe(name, () => {
    if (program === undefined) {
      const missing = "needs Redis (Debian package redis-server), which is not installed here";
      if (process.env["CI"] === "true") it(missing, () => Promise.reject(new Error(missing)));
      else it.skip(missing, () => undefined);
      return;
    }
    const redis = createRedis(program);
    beforeAll(() => redis.begin());
    afterAll(() => redis.end());
    body(redis);
  });
}

function createRedis(program: string): TestRedis & { begin(): Promise<void>; end(): Promise<void> } {
  let folder = "";
  let port = 0;
  let child: ChildProcess | undefined;
  const start = (...more: string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const settings = [
        "--port",
        `${port}`,
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "yes",
      ];
      // What it acknowledged is in the file, also after a kill.
      const started = spawn(program, [...settings, "--appendfsync", "always", ...more], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      child = started;
      started.on("error", reject);
      started.on("exit", () => reject(new Error("redis-server ended at its start")));
      let said = "";
      started.stdout.on("data", (text) => {
        said += String(text);
        if (said.includes("Ready to accept connections")) resolve();
      });
    });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null) return;
    const exit = new Promise((resolve) => ended.once("exit", resolve));
    ended.kill(signal);
    await exit;
  };
  return {
    get url() {
      return `redis://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    start,
    startEmpty() {
      rmSync(join(folder, "appendonlydir"), { recursive: true, force: true });
      return start();
    },
    stop,
    async begin() {
      folder = makeFolder("redis");
      port = await freePort();
      await start();
    },
    async end() {
      await stop("SIGKILL");
      await removeFolder(folder);
    },
  };
}
