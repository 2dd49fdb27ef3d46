import { applyConfig, type Config, loadConfig, type RunOptions, type Target } from "#runtime";
import type { AskFlags } from "./flags/ask-flags.ts";
import { runOptions } from "./flags/run-options.ts";
import type { CommandIo } from "./io.ts";
import { demoTools } from "./load-tools.ts";

/** Who is asked, and how. */
export interface Ask {
  readonly target: Target;
  readonly options: RunOptions;
}

/** What flags, configuration and variables say together: flags go first, then the configuration, then variables. */
export async function planAsk(flags: AskFlags, io: CommandIo): Promise<Ask> {
  const config = await readConfig(flags, io);
  const { target = io.world.env["MILLRACE_BACKEND"] || "offline", options } = applyConfig(config, {
    backend: backendOf(flags, config, io),
    options: await runOptions(flags, io),
  });
  // Without tools of anybody's the offline model is given some: enough to show a tool call.
  const isBare = flags.tools === undefined && (options.tools ?? []).length === 0;
  if (!isBare || typeof target !== "string" || target.split("/", 1)[0] !== "offline") return { target, options };
  return { target, options: { ...options, tools: demoTools() } };
}

async function readConfig(flags: AskFlags, io: CommandIo): Promise<Config> {
  if (flags.config === false) return {};
  const home = io.world.env["HOME"];
  const { config } = await loadConfig({
    cwd: io.cwd,
    files: io.world.files,
    ...(typeof flags.config === "string" && { file: flags.config }),
    ...(home !== undefined && { home }),
  });
  return config;
}

/** The backend string the flags ask for; `undefined` when they name none. A model alone is one of whoever is asked. */
function backendOf(flags: AskFlags, config: Config, io: CommandIo): string | undefined {
  if (flags.model === undefined) return flags.backend;
  const [name = ""] = (flags.backend ?? config.backend ?? io.world.env["MILLRACE_BACKEND"] ?? "offline").split("/", 1);
  return `${name}/${flags.model}`;
}
