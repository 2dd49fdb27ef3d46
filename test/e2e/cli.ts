import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentEvent } from "#domain";
import { decodeEvent } from "#wire";
import { ROOT } from "../../scripts/set-up.mjs";

/** What a process left behind. */
export interface Left {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly input?: string | Uint8Array;
  /** Leaves stdin open. */
  readonly holdInput?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another build of the program than that of this folder. */
  readonly program?: string;
}

/** A running `millrace`. */
export interface Cli {
  readonly child: ChildProcessWithoutNullStreams;
  readonly left: Promise<Left>;
  /** What stdout holds so far. */
  printed(): string;
  /** Resolves when stdout or stderr holds this text. Rejects when the process ends without it. */
  seen(text: string): Promise<void>;
}

/** Starts the real executable in a process of its own, without any key in its environment. */
export function startCli(args: readonly string[], options: CliOptions = {}): Cli {
  const child = spawn(process.execPath, [options.program ?? join(ROOT, "bin", "millrace.js"), ...args], {
    cwd: options.cwd ?? ROOT,
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
  });
  // A test that fails leaves no process behind.
  onTestFinished(() => void child.kill("SIGKILL"));
  const waiting = new Set<() => void>();
  let stdout = "";
  let stderr = "";
  let isOver = false;
  const look = (): void => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    look();
  });
  // A process that has ended does not read its input.
  child.stdin.on("error", () => undefined);
  if (options.input !== undefined) child.stdin.write(options.input);
  if (options.holdInput !== true) child.stdin.end();
  const left = new Promise<Left>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      isOver = true;
      look();
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    child,
    left,
    printed: () => stdout,
    seen: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (stdout.includes(text) || stderr.includes(text)) resolve();
          else if (isOver) reject(new Error(`It ended without "${text}":\n${stdout}\n${stderr}`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
  };
}

/** Runs the executable to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<Left> {
  return startCli(args, options).left;
}

/** The events of `--json`, each read back by the codec. */
export function readEvents(stdout: string): AgentEvent[] {
  const lines = stdout.split("\n");
  if (lines.pop() !== "") throw new Error("The last line has no end.");
  return lines.map((line) => {
    const decoded = decodeEvent(line);
    if (decoded.event === undefined) throw new Error(`${decoded.fault}\n${line}`);
    return decoded.event;
  });
}
