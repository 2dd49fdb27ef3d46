import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFailed, onTestFinished } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";

/** Part of every Debian system; without it there is no terminal to test in. */
const SCRIPT = "/usr/bin/script";
export const hasTerminal = existsSync(SCRIPT) || process.env["CI"] !== undefined;

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly columns?: number;
}

/** A `millrace` on a terminal of its own. */
export interface Terminal {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything that went to the screen so far, as bytes of the terminal. */
  screen(): string;
  /** Resolves when the screen holds this text, counted from the last `seen` on. Rejects when the program ends without it. */
  seen(text: string): Promise<void>;
  type(keys: string): void;
  readonly exit: Promise<number | null>;
}

/** Starts the executable in a pseudo-terminal. */
export function openTerminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
  const words = [process.execPath, join(ROOT, "bin", "millrace.js"), ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const command = `stty cols ${options.columns ?? 80} rows 24; exec ${words.join(" ")}`;
  const child = spawn(SCRIPT, ["-qefc", command, "/dev/null"], {
    cwd: options.cwd ?? ROOT,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", SHELL: "/bin/sh", ...options.env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let screen = "";
  let awaited = "";
  onTestFailed(
    () => void process.stderr.write(`The terminal, which waited for ${JSON.stringify(awaited)}:\n${screen}\n`),
  );
  let from = 0;
  let isOver = false;
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    look();
  });
  child.stdin.on("error", () => undefined);
  const exit = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      isOver = true;
      look();
      resolve(code);
    });
  });
  return {
    child,
    exit,
    screen: () => screen,
    seen: (text) =>
      new Promise((resolve, reject) => {
        awaited = text;
        const check = (): void => {
          const at = screen.indexOf(text, from);
          if (at !== -1) {
            from = at + text.length;
            resolve();
          } else if (isOver) reject(new Error(`It ended without "${text}":\n${screen}`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    type: (keys) => void child.stdin.write(keys),
  };
}
