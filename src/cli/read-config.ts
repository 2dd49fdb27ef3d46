import { extname } from "node:path";
import { describeTrust, type LoadedConfig, loadConfig, type ProjectConfig, trustListOf } from "#runtime";
import { secretsOfData } from "#secrets";
import { plainText } from "#sinks";
import { askLine } from "./ask-line.ts";
import type { CommandIo } from "./io.ts";
import { say } from "./say.ts";

export interface ReadConfigOptions {
  /** The file of `--config`, which is trusted because it was named; `false` for none at all. */
  readonly file?: string | boolean | undefined;
  /** Whether a person at a terminal is asked about a project's configuration. */
  readonly asks?: boolean;
}

/**
 * The configuration for the working folder. A project's file that is not trusted is skipped with one line on stderr; a
 * person at a terminal may be asked instead.
 */
export async function readConfig({ file, asks = false }: ReadConfigOptions, io: CommandIo): Promise<LoadedConfig> {
  if (file === false) return { config: {}, file: undefined, ownFile: undefined, project: undefined };
  const load = (): Promise<LoadedConfig> =>
    loadConfig({
      cwd: io.cwd,
      env: io.world.env,
      files: io.world.files,
      ...(typeof file === "string" && { file }),
    });
  const loaded = await load();
  io.hide?.(secretsOfData(loaded.config));
  const { project, refusedOwn } = loaded;
  if (refusedOwn !== undefined) say(plainText(describeRefusedOwn(refusedOwn)).replaceAll("\n", " "), io);
  if (project === undefined || project.state === "trusted" || project.state === "named") return loaded;
  if (asks && project.state !== "refused" && (await isTrustedNow(project, io))) {
    const trusted = await load();
    io.hide?.(secretsOfData(trusted.config));
    return trusted;
  }
  say(plainText(describeUnused(project)).replaceAll("\n", " "), io);
  return loaded;
}

/** Why a folder that the environment names is not used for the person's own configuration. */
export function describeRefusedOwn({ path, why }: NonNullable<LoadedConfig["refusedOwn"]>): string {
  return `millrace: ${path} is not used as your own configuration: it ${why}.`;
}

/** Why a project's configuration is not used, and how to use it, in one line. */
export function describeUnused({ file, state, why }: ProjectConfig): string {
  const shown = JSON.stringify(file);
  const trust = `If you trust this project, check the file and run: millrace trust ${shown}`;
  if (state === "refused") return `millrace: ${file} is not used: ${why}. To use it once: --config ${shown}`;
  if (state === "changed") return `millrace: ${file} is not used: it has changed since you trusted it. ${trust}`;
  return `millrace: ${file} is not used: you have not trusted it. ${trust}`;
}

async function isTrustedNow(project: ProjectConfig, io: CommandIo): Promise<boolean> {
  if (io.input.isTTY !== true || !io.err.isTerminal) return false;
  const trust = await describeTrust(project.file, io.world.files);
  const question = [
    project.state === "changed"
      ? "This project's configuration has changed since you trusted it:"
      : "This project has a configuration that you have not trusted:",
    `  ${project.file}`,
    `  ${describeEffect(project.file, trust)}`,
    "Use it from now on? [y/N] ",
  ];
  const answer = await askLine(question.map(plainText).join("\n"), new AbortController().signal, io);
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? "")) return false;
  const trustList = await trustListOf({ cwd: io.cwd, env: io.world.env, files: io.world.files });
  await trustList.add(project.file, trust.proof);
  return true;
}

function describeEffect(
  file: string,
  { bytes, imports }: { readonly bytes: Uint8Array; readonly imports: readonly string[] },
): string {
  if (extname(file) !== ".json") {
    const others = imports.length === 0 ? "" : ` with ${imports.length} files that it imports`;
    return `It is a program${others}: it runs with your rights.`;
  }
  try {
    const fields = Object.keys(JSON.parse(new TextDecoder().decode(bytes)) as object).slice(0, 20);
    return `It sets: ${fields.map((field) => field.slice(0, 40)).join(", ")}.`;
  } catch {
    return "It is not JSON.";
  }
}
