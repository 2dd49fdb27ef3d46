import type { Command } from "commander";
import { startRun } from "#runtime";
import { type AskFlags, addAskFlags, runOptions } from "../ask-flags.ts";
import type { CommandIo, Outcome } from "../io.ts";
import { readStdin } from "../read-input.ts";
import { show } from "../show.ts";

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
