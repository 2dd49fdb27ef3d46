import { applyConfig, type Config, type RunOptions, type Target } from "#runtime";
import type { AskFlags } from "./flags/ask-flags.ts";
import { runOptions } from "./flags/run-options.ts";
import type { CommandIo } from "./io.ts";
import { demoTools } from "./load-tools.ts";
import { readConfig } from "./read-config.ts";
import { isFullName, requireBackendName } from "./require-backend.ts";
import { usageError } from "./usage-error.ts";

/** The target of a question, and its options. */
export interface Ask {
  readonly target: Target;
  readonly options: RunOptions;
}

/**
 * Combines flags, configuration and variables, in this order of precedence. `asks`: a person at a terminal is asked
 * about a project's configuration that is not trusted.
 */
export async function planAsk(flags: AskFlags, io: CommandIo, { asks = false } = {}): Promise<Ask> {
  const { config } = await readConfig({ file: flags.config, asks }, io);
  const { target = io.world.env["MILLRACE_BACKEND"] || "offline", options: given } = applyConfig(config, {
    backend: backendOf(flags, config, io),
    options: await runOptions(flags, io),
  });
  const options = worksInFolder(target) ? { ...given, cwd: io.cwd } : given;
  // If no tools are given, the offline model gets some: enough to show a tool call.
  const isBare = flags.tools === undefined && (options.tools ?? []).length === 0;
  if (!isBare || typeof target !== "string" || target.split("/", 1)[0] !== "offline") return { target, options };
  return { target, options: { ...options, tools: demoTools() } };
}

/**
 * The options of a foreign command. Of a configuration, only the rules and limits apply, not what is meant for models.
 */
export async function planExec(flags: AskFlags, io: CommandIo): Promise<RunOptions> {
  const { config } = await readConfig({ file: flags.config, asks: true }, io);
  const { tools: _tools, instructions: _instructions, agents: _agents, ...rules } = config;
  return applyConfig(rules, { options: await runOptions(flags, io) }).options;
}

/** A folder is for agents with their own process. A model would warn about it, although the user did not set it. */
function worksInFolder(target: Target): boolean {
  if (typeof target === "string") return target.split("/", 1)[0] === "claude-code";
  const backends =
    "agents" in target ? target.agents.map((one) => one.backend) : "backend" in target ? [target.backend] : [];
  return backends.length > 0 && backends.every((backend) => typeof backend === "string" && worksInFolder(backend));
}

/** The backend that the flags select; `undefined` if they name none. A model alone belongs to the current backend. */
function backendOf(flags: AskFlags, config: Config, io: CommandIo): string | undefined {
  if (flags.model === undefined) return flags.backend;
  const asked = flags.backend ?? config.backend ?? (io.world.env["MILLRACE_BACKEND"] || "offline");
  const [name = ""] = asked.split("/", 1);
  if (!isFullName(flags.model, asked)) return `${name}/${flags.model}`;
  const wanted = requireBackendName(flags.model, "--model");
  if (flags.backend === undefined || wanted === name) return flags.model;
  throw usageError(`--backend ${flags.backend} and --model ${flags.model} name two backends. Leave one of them out.`);
}
