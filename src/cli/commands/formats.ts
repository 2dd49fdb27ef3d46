import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { isStartError, StartError } from "#domain";
import { decodeStream, formatRegistry } from "#runtime";
import type { CommandIo, Outcome } from "../io.ts";
import { openBytes } from "../read-input.ts";
import { show } from "../show.ts";

export function addFormatsCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const formats = program.command("formats").description("the stream dialects Millrace understands");
  formats
    .command("list")
    .description("every format by name")
    .action(() => {
      const registry = formatRegistry();
      for (const name of registry.list()) {
        const format = registry.describe(name);
        if (format?.name !== name) continue;
        const also = format.aliases.length > 0 ? ` (also ${format.aliases.join(", ")})` : "";
        io.out.write(`${name.padEnd(20)}${format.framing.padEnd(8)}${format.description}${also}\n`);
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
      const run = decodeStream(format, await openBytes(file, io), { keepRaw: flags.raw === true }, io.world);
      outcome.code = await show(run, { json: true }, io);
    });
}

/** A format by its name, or a declarative one from a file. */
async function findFormat(name: string, io: CommandIo) {
  const registry = formatRegistry();
  if (!name.endsWith(".json")) return registry.require(name);
  const file = resolve(io.cwd, name);
  const text = await readFile(file, "utf8").catch((error) => {
    throw new StartError("unknown-format", `The format file ${file} cannot be read.`, { cause: error });
  });
  try {
    return registry.registerConfig(text);
  } catch (error) {
    throw isStartError(error) ? new StartError(error.code, `${name}: ${error.message}`, { cause: error }) : error;
  }
}
