import { PassThrough } from "node:stream";
import type { CommandIo, Output } from "../../src/cli/io.ts";
import { systemWorld } from "#runtime";

export interface MemoryIo extends CommandIo {
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A command line in this process: its own folder, input and variables, and no key. */
export function createMemoryIo(options: {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}): MemoryIo {
  let out = "";
  let aside = "";
  const output = (take: (text: string) => void): Output => ({
    write: take,
    room: () => undefined,
    isGone: false,
    isTerminal: false,
    columns: 100,
  });
  const input = new PassThrough();
  input.end(options.input ?? "");
  return {
    out: output((text) => {
      out += text;
    }),
    err: output((text) => {
      aside += text;
    }),
    input: input as unknown as NodeJS.ReadStream,
    inputKind: options.input === undefined ? "nothing" : "pipe",
    world: { ...systemWorld(), env: { PATH: "/nowhere", ...options.env } },
    cwd: options.cwd,
    onInterrupt: () => () => undefined,
    written: async () => undefined,
    cut: () => false,
    stdout: () => out,
    stderr: () => aside,
  };
}
