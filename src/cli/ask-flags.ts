import type { Command } from "commander";
import type { RunOptions } from "#runtime";
import type { CommandIo } from "./io.ts";
import { demoTools, loadTools } from "./load-tools.ts";
import { parseCount } from "./parse-count.ts";
import type { ShowOptions } from "./show.ts";

/** The flags every command that asks a model understands. */
export interface AskFlags extends ShowOptions {
  readonly backend: string;
  readonly instructions?: string;
  /** A file, or `false` for none at all. */
  readonly tools?: string | false;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
}

export function addAskFlags(command: Command, io: CommandIo): Command {
  return command
    .option("-b, --backend <backend>", "who answers, as provider/model", io.world.env.MILLRACE_BACKEND || "offline")
    .option("-i, --instructions <text>", "what the agent is told before everything else")
    .option("-t, --tools <file>", "a module that exports tools")
    .option("--no-tools", "offer no tools")
    .option("--max-turns <n>", "replies of the model", parseCount)
    .option("--max-tokens <n>", "length of one reply", parseCount)
    .option("--show-thinking", "show what the model thinks")
    .option("--no-color", "plain text");
}

/** The flags as options of a run. */
export async function runOptions(flags: AskFlags, io: CommandIo): Promise<RunOptions> {
  const demo = flags.backend.split("/")[0] === "offline" ? demoTools() : [];
  const tools =
    flags.tools === false ? [] : typeof flags.tools === "string" ? await loadTools(flags.tools, io.cwd) : demo;
  return {
    tools,
    ...(flags.instructions !== undefined && { instructions: flags.instructions }),
    ...(flags.maxTurns !== undefined && { limits: { turns: flags.maxTurns } }),
    ...(flags.maxTokens !== undefined && { maxTokens: flags.maxTokens }),
  };
}
