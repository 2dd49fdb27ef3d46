import type { Command } from "commander";
import { decodeStream, formatRegistry } from "#runtime";
import { plainText } from "#sinks";
import { findFormat } from "../find-format.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { openBytes, sayWaiting } from "../read-input.ts";
import { foldText } from "../say.ts";
import { show } from "../show.ts";

const EXAMPLES = `
Examples:
  millrace formats list
  millrace formats decode claude-code log.ndjson | jq .type
  some-agent --json | millrace formats check my-agent.json -`;

export function addFormatsCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const formats = program
    .command("formats")
    .description("the stream dialects Millrace understands")
    .addHelpText("after", EXAMPLES);
  formats
    .command("list")
    .description("every format by name")
    .action(() => {
      const registry = formatRegistry();
      for (const name of registry.list()) {
        const format = registry.describe(name);
        if (format?.name !== name) continue;
        const also = format.aliases.length > 0 ? ` (also ${format.aliases.join(", ")})` : "";
        const line = `${name.padEnd(20)}${format.framing.padEnd(8)}${format.description}${also}\n`;
        io.out.write(foldText(line, io.out));
      }
    });
  formats
    .command("decode")
    .description("print the events of a captured stream, one per line")
    .argument("<format>", "a format's name, or the .json file of a declarative format")
    .argument("[file]", "the captured stream; - or nothing reads stdin", "-")
    .option("--raw", "keep the exact frame on every event")
    .action(async (name: string, file: string, flags: { readonly raw?: boolean }) => {
      const format = await findFormat(name, io);
      if (file === "-") sayWaiting(io);
      const run = decodeStream(format, await openBytes(file, io), { keepRaw: flags.raw === true }, io.world);
      outcome.code = await show(run, { json: true }, io);
    });
  formats
    .command("check")
    .description("say whether a format understands a captured stream")
    .argument("<format>", "a format's name, or the .json file of a declarative format")
    .argument("[file]", "the captured stream; without it only the format is checked")
    .action(async (name: string, file: string | undefined) => {
      outcome.code = await check(name, file, io);
    });
}

/** The maximum number of frame kinds that the report names. */
const MAX_NAMED = 20;

/** Exit code 1: something in the stream was not understood, or it has no proper end. */
async function check(name: string, file: string | undefined, io: CommandIo): Promise<number> {
  const format = await findFormat(name, io);
  if (file === undefined) {
    io.out.write(`The format ${format.name} is well formed.\n`);
    return EXIT.success;
  }
  const counts = new Map<string, number>();
  const unknown = new Map<string, number>();
  const problems: string[] = [];
  const run = decodeStream(format, await openBytes(file, io), {}, io.world);
  const release = io.onInterrupt(() => {
    release();
    run.abort("interrupted").catch(() => undefined);
  });
  if (file === "-") sayWaiting(io);
  for await (const event of run) {
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
    if (event.type === "notice" && event.kind.startsWith("unknown:")) {
      const kind = event.kind.slice("unknown:".length);
      if (unknown.size < MAX_NAMED || unknown.has(kind)) unknown.set(kind, (unknown.get(kind) ?? 0) + 1);
    }
    if (event.type === "error" && problems.length < MAX_NAMED) problems.push(event.message);
  }
  release();
  const { status } = await run.result();
  io.out.write(`events: ${[...counts].map(([type, count]) => `${count} ${type}`).join(", ")}\n`);
  for (const [kind, count] of unknown) io.out.write(`not understood: ${plainText(kind)} (${count} times)\n`);
  for (const problem of problems) io.out.write(`problem: ${plainText(problem)}\n`);
  if (status === "aborted") {
    io.out.write("Interrupted: the rest of the stream was not read.\n");
    return EXIT.aborted;
  }
  const isUnderstood = unknown.size === 0 && problems.length === 0 && status === "success";
  io.out.write(
    isUnderstood ? `${format.name} understands all of it.\n` : `${format.name} does not understand all of it.\n`,
  );
  return isUnderstood ? EXIT.success : EXIT.failed;
}
