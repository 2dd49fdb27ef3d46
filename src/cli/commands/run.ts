import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Block } from "#domain";
import { type RunOptions, startRun } from "#runtime";
import { startExec } from "../exec.ts";
import { type AskFlags, addAskFlags, addShowFlags } from "../flags/ask-flags.ts";
import { readMedia, readPrompt } from "../prompt.ts";
import { addText, requireText } from "../flags/values.ts";
import { formattedSink } from "../formatted-sink.ts";
import type { CommandIo, Outcome } from "../io.ts";
import { planAsk } from "../plan-ask.ts";
import { show } from "../show.ts";
import { usageError } from "../usage-error.ts";

interface RunFlags extends AskFlags {
  readonly image?: readonly string[];
  readonly record?: string;
  readonly replay?: string;
  readonly onDifference?: "error" | "warn";
  readonly exec?: string;
  readonly format?: string;
}

const EXAMPLES = `
Examples:
  millrace run "What is 25 + 17?"
  millrace run -b claude-code --deny 'Bash(rm *)' --ask Bash "Tidy up this folder"
  git diff | millrace run "Review this change"        words first, then stdin
  millrace run --json "Say hello" | jq .type          one event per line
  millrace run --record sum.tape "What is 25 + 17?"
  millrace run --replay sum.tape --tools tools.mjs "What is 25 + 17?"   your tools, the recorded model
  millrace run --exec 'some-agent --json' --format my-agent.json

Text that is piped in comes behind the words; a - waits for it however long it takes. --exec takes one command and its words, without a shell: quotes keep words together, nothing is
expanded. Its output is read with --format (a name of "millrace formats list", or a .json file; default ndjson).`;

export function addRunCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("run", { isDefault: true })
    .description("ask an agent and stream its answer (default)")
    .argument("[prompt...]", "the prompt; - reads stdin");
  addShowFlags(
    addAskFlags(command)
      .option("--image <file>", "a picture or a PDF to look at; may be repeated", addText)
      .option("--record <file>", "write a tape of the run: millrace replay plays it", requireText)
      .option(
        "--replay <file>",
        "answer from a tape: only the model's part of it is played, everything else runs",
        requireText,
      )
      .addOption(
        new Option("--on-difference <how>", "with --replay: what to do when something else is sent").choices([
          "error",
          "warn",
        ]),
      )
      .option("--exec <command>", "run a foreign command and read its output as events", requireText)
      .option("--format <name>", "the format of that output", requireText)
      .option("--json", "one event per line, as JSON"),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (words: readonly string[], flags: RunFlags) => {
      outcome.code = await (flags.exec === undefined
        ? ask(words, flags, io)
        : exec(words, { ...flags, exec: flags.exec }, io));
    });
}

async function ask(words: readonly string[], flags: RunFlags, io: CommandIo): Promise<number> {
  if (flags.format !== undefined) {
    throw usageError(
      "--format says how the output of --exec is read, and there is no --exec. Add it, or leave --format out.",
    );
  }
  if (flags.onDifference !== undefined && flags.replay === undefined) {
    throw usageError("--on-difference has no meaning without --replay. Add --replay <file>, or leave it out.");
  }
  const { target, options } = await planAsk(flags, io, { asks: true });
  const media = await Promise.all((flags.image ?? []).map((file) => readMedia(file, io)));
  const prompt = await readPrompt(words, io, media.length > 0);
  const blocks: readonly Block[] = [...media, ...(prompt === "" ? [] : [{ type: "text", text: prompt } as const])];
  const input = media.length === 0 ? prompt : [{ role: "user" as const, blocks }];
  const record = flags.record === undefined ? {} : { record: resolve(io.cwd, flags.record) };
  return await show(startRun(target, input, { ...options, ...record, ...replayOf(flags, io) }, io.world), flags, io);
}

function replayOf({ replay, onDifference }: RunFlags, io: CommandIo): Pick<RunOptions, "replay"> {
  if (replay === undefined) return {};
  return { replay: { tape: resolve(io.cwd, replay), ...(onDifference !== undefined && { onDifference }) } };
}

async function exec(
  words: readonly string[],
  flags: RunFlags & { readonly exec: string },
  io: CommandIo,
): Promise<number> {
  for (const name of ["backend", "model", "record", "replay", "image", "resume", "ask"] as const) {
    if (flags[name] === undefined) continue;
    throw usageError(`--${name} has no meaning with --exec: the command decides for itself. Leave one of them out.`);
  }
  const run = await startExec(flags, await readPrompt(words, io, true), io);
  const formatted = flags.format === undefined ? undefined : await formattedSink(flags.format, flags, io);
  return await show(run, flags, io, { formatted });
}
