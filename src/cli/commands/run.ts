import type { Command } from "commander";
import { type RunOptions, startRun } from "#runtime";
import { type CommandIo } from "../io.ts";
import type { Outcome } from "../main.ts";
import { demoTools, loadTools } from "../load-tools.ts";
import { parseCount } from "../parse-count.ts";
import { readStdin } from "../read-input.ts";
import { type ShowOptions, show } from "../show.ts";

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

export function addRunCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("run", { isDefault: true })
    .description("ask an agent and stream its answer (default)")
    .argument("[prompt...]", "the prompt; - reads it from stdin");
  addAskFlags(command, io)
    .option("--json", "one event per line, as JSON")
    .action(async (words: readonly string[], flags: AskFlags) => {
      const prompt = await readPrompt(words, io);
      const run = startRun(flags.backend, prompt, await runOptions(flags, io), io.world);
      outcome.code = await show(run, flags, io);
    });
}

async function readPrompt(words: readonly string[], io: CommandIo): Promise<string> {
  const text = words.join(" ");
  return text === "-" ? (await readStdin(io.input)).trim() : text;
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
