import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { describeThrown } from "#domain";
import { CONFIG_FILES, describeTrust, inspectConfig, trustListOf } from "#runtime";
import { plainText } from "#sinks";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { usageError } from "../usage-error.ts";

interface TrustFlags {
  readonly remove?: boolean;
  readonly list?: boolean;
}

const EXAMPLES = `
Examples:
  millrace trust                       the configuration of this project
  millrace trust millrace.config.mjs   this file
  millrace trust --list                what you have trusted
  millrace trust --remove              not any more

A file is trusted as it is now, with everything it imports: when one of them changes, you are told, and it is not used until you
trust it again. A module runs with your rights.`;

/** How many of the files that a configuration imports are listed. */
const SHOWN_IMPORTS = 20;

export function addTrustCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("trust")
    .description("use a project's configuration from now on")
    .argument("[file]", "the configuration (default: the one of this project)")
    .option("--remove", "do not trust it any more")
    .option("--list", "list what is trusted")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string | undefined, flags: TrustFlags) => {
      outcome.code = await trust(file, flags, io);
    });
}

async function trust(file: string | undefined, flags: TrustFlags, io: CommandIo): Promise<number> {
  const { files, env } = io.world;
  const trustList = await trustListOf({ cwd: io.cwd, env, files });
  const say = (text: string): void => io.out.write(`${plainText(text)}\n`);
  if (flags.list === true) {
    if (file !== undefined || flags.remove === true) throw usageError("--list takes neither a file nor --remove.");
    for (const trusted of await trustList.list()) say(trusted.file);
    return EXIT.success;
  }
  const path = file === undefined ? await findProject(io) : await realPathOf(file, io);
  if (flags.remove === true) {
    if (!(await trustList.remove(path)))
      throw usageError(`${path} is not trusted. millrace trust --list shows what is.`);
    say(`no longer trusted: ${path}`);
    return EXIT.success;
  }
  await refuseUnusable(path, io);
  const { proof, imports } = await describeTrust(path, files).catch((error: unknown) => {
    throw usageError(`${describeThrown(error)} To use it once: --config ${JSON.stringify(path)}`, error);
  });
  await trustList.add(path, proof);
  say(`trusted: ${path}`);
  const own = imports.filter((one) => !/[\\/]node_modules[\\/]/.test(one));
  for (const one of own.slice(0, SHOWN_IMPORTS)) say(`  with ${one}`);
  const others = imports.length - Math.min(own.length, SHOWN_IMPORTS);
  if (others > 0) say(`  with ${others} more ${others === 1 ? "file" : "files"} that they import`);
  return EXIT.success;
}

/** The file that a run in this folder would use. */
async function findProject(io: CommandIo): Promise<string> {
  const { files, env } = io.world;
  const { project } = await inspectConfig({ cwd: io.cwd, env, files });
  if (project !== undefined) return project.file;
  throw usageError(`There is no ${CONFIG_FILES.join(", ")} in this project. Name the file you mean.`);
}

/** A file that is never used is not trusted either: the person would believe that it is used. */
async function refuseUnusable(path: string, io: CommandIo): Promise<void> {
  const { files, env } = io.world;
  const { project } = await inspectConfig({ cwd: dirname(path), env, files });
  if (project?.state !== "refused" || project.file !== path) return;
  throw usageError(`${path} is never used: ${project.why}. To use it once: --config ${JSON.stringify(path)}`);
}

/** Resolves symbolic links, as the search for a configuration does; unchanged if the file does not exist. */
async function realPathOf(file: string, io: CommandIo): Promise<string> {
  const path = resolve(io.cwd, file);
  return await realpath(path).catch(() => path);
}
