import { describeThrown, isStartError, type StartError, unreachable } from "#domain";
import type { Backend } from "#backends";
import { createProcessTable, probeExecutable } from "#transports";
import { checkOutput, type OutputCheck } from "../backends/claude-code/check-output.ts";
import { commandElsewhere, locateCommand, prepareCheck } from "../backends/claude-code/find-cli.ts";
import { applyVersionPolicy, detectVersion } from "../backends/claude-code/version.ts";
import type { Agent } from "./agent.ts";
import { claudeCodeWorld } from "./claude-code-world.ts";
import { PROVIDER_NAMES, type ProviderName, type RunOptions } from "./options.ts";
import { checkBaseUrl, missingAddress, missingKey, PROVIDERS } from "./providers.ts";
import { requireName, resolveBackend } from "./resolve-backend.ts";
import type { World } from "./world.ts";

/** What one backend needs on this machine, and whether it is there. Never contains a key, only whether there is one. */
export interface BackendState {
  readonly name: string;
  readonly isReady: boolean;
  /** What was found, one sentence each. */
  readonly found: readonly string[];
  /** What is missing, with the remedy. */
  readonly missing: readonly string[];
  /** What the backend supports here. */
  readonly can: readonly string[];
}

export interface InspectOptions {
  /** The Claude Code CLI to look for. */
  readonly executable?: string | undefined;
  readonly cwd: string;
  /** How long a host may take to respond. Default 3000. */
  readonly timeoutMs?: number;
  /** The options of runs: keys and addresses in addition to those in the environment. */
  readonly run?: Pick<RunOptions, ProviderName | "claudeCode">;
  /** Starts the Claude Code CLI without a prompt and checks that all of its output is JSON. Takes a second or two. */
  readonly checksOutput?: boolean;
}

const TIMEOUT_MS = 3000;
const MODEL_CAN = ["text", "thinking", "tools", "hooks", "permissions", "guards", "handoffs", "structured output"];
const AGENT_CAN = ["text", "thinking", "its own tools", "sessions (resume, continue, fork)", "structured output"];
const CONTROL_CAN = ["our tools", "hooks", "permissions", "guards"];

/**
 * Checks what every backend needs. Starts the Claude Code CLI for its version, and sends a request to each host that
 * has a key.
 */
export async function inspectBackends(options: InspectOptions, world: World): Promise<readonly BackendState[]> {
  const others = await Promise.all([
    inspectClaudeCode(options, world),
    ...PROVIDER_NAMES.map((name) => inspectProvider(name, options, world)),
  ]);
  return [inspectOffline(), ...others];
}

/**
 * Checks what one backend string needs, like `inspectBackends`. An invalid name is reported as not ready, with the
 * reason.
 */
export async function inspectTarget(text: string, options: InspectOptions, world: World): Promise<BackendState> {
  try {
    const { name } = requireName(text);
    resolveBackend(text, options.run ?? {}, world);
    if (name === "offline") return inspectOffline();
    if (name === "claude-code") return await inspectClaudeCode(options, world);
    return await inspectProvider(name as ProviderName, options, world);
  } catch (error) {
    if (!isStartError(error)) throw error;
    return unready(text, [], error);
  }
}

/**
 * What is missing on this machine to start the agent of a backend: its program, with the remedy. `undefined`: nothing, or
 * it is not an agent with a program. Starts nothing.
 */
export async function findMissingProgram(
  backend: string | Backend,
  run: NonNullable<InspectOptions["run"]>,
  world: World,
): Promise<string | undefined> {
  if (typeof backend === "string" && requireName(backend).name !== "claude-code") return undefined;
  const made = typeof backend === "string" ? resolveBackend(backend, run, world) : backend;
  return made.kind === "agent" ? made.missing?.() : undefined;
}

/** Checks what agents need that have a backend made in code. Those of other agents are checked by their names. */
export async function inspectAgents(agents: readonly Agent[], world: World): Promise<readonly BackendState[]> {
  const made = agents.filter(({ backend }) => typeof backend !== "string" && backend.kind === "agent");
  return Promise.all(
    made.map(async ({ name, backend }) => {
      const missing = await findMissingProgram(backend, {}, world);
      const found = [`Its backend is ${(backend as Backend).name}.`];
      return { name, isReady: missing === undefined, found, missing: missing === undefined ? [] : [missing], can: [] };
    }),
  );
}

function inspectOffline(): BackendState {
  return { name: "offline", isReady: true, found: ["It is built in and needs nothing."], missing: [], can: MODEL_CAN };
}

async function inspectClaudeCode({ cwd, ...options }: InspectOptions, world: World): Promise<BackendState> {
  const { env, spawn, clock, random, files } = world;
  const { executable = options.executable, env: extra = {}, spawn: own } = options.run?.claudeCode ?? {};
  const name = "claude-code";
  try {
    const { path, command } =
      own === undefined
        ? await locateCommand(executable, { env, probe: probeExecutable, cwd, files })
        : commandElsewhere(executable);
    const processes = own === undefined ? createProcessTable() : undefined;
    const check = prepareCheck({ env: extra }, { env, random, clock, processes, cwd });
    const detection = await detectVersion({ path, command, spawn: own ?? spawn, clock, ...check });
    const verdict = applyVersionPolicy(detection);
    if (verdict.kind === "refused") return unready(name, [`The CLI is ${path}.`], verdict.error);
    const { version } = verdict;
    const hasControl = (version?.major ?? 0) >= 2;
    const missing = hasControl
      ? []
      : ["Hooks, tools and permissions need version 2.0.0. Update it with npm update -g @anthropic-ai/claude-code."];
    const login = describeLogin({ ...env, ...extra });
    const found = [`The CLI is ${path}, version ${version?.raw ?? "unknown"}.`, login];
    if (options.checksOutput === true) {
      const machine = { ...claudeCodeWorld(), clock, random, spawn, files, env, cwd };
      const output = await checkOutput({ path, command, version, warnings: [] }, { env: extra, cwd }, machine);
      const fault = describeOutput(output, env, found);
      if (fault !== undefined) return { name, isReady: false, found, missing: [...missing, fault], can: [] };
    }
    return { name, isReady: true, found, missing, can: hasControl ? [...AGENT_CAN, ...CONTROL_CAN] : AGENT_CAN };
  } catch (error) {
    if (!isStartError(error)) throw error;
    return unready(name, [], error);
  }
}

/** Accepts a CLI that also writes output other than JSON. */
const ALLOW_VARIABLE = "CLAUDE_INTEGRATION_ALLOW_NONJSON";

/** Adds the result of the output check to `found`; returns the fault, if it is one. */
function describeOutput(output: OutputCheck, env: World["env"], found: string[]): string | undefined {
  switch (output.kind) {
    case "pure":
      found.push(
        `Its output is JSON only (${output.lines} ${output.lines === 1 ? "line" : "lines"} of a start without a prompt; no model was asked).`,
      );
      return undefined;
    case "unknown":
      found.push(`Whether its output is JSON only was not seen: ${output.reason}`);
      return undefined;
    case "impure": {
      const fault = `It writes what is not JSON to stdout: ${JSON.stringify(output.line)}.`;
      if (env[ALLOW_VARIABLE] !== "1") {
        return `${fault} Remove what writes it (a wrapper script, a hook), or set ${ALLOW_VARIABLE}=1 to let it pass.`;
      }
      found.push(`${fault} ${ALLOW_VARIABLE} lets it pass.`);
      return undefined;
    }
    default:
      return unreachable(output);
  }
}

function unready(name: string, found: readonly string[], error: StartError): BackendState {
  return { name, isReady: false, found, missing: [error.message], can: [] };
}

/** The variables that make the CLI use a cloud instead of Anthropic itself. */
const CLOUD_SWITCHES = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

function describeLogin(env: World["env"]): string {
  const isSet = (variable: string): boolean => (env[variable]?.trim() ?? "") !== "";
  const cloud = CLOUD_SWITCHES.find(
    (variable) => isSet(variable) && !/^(?:0|false|no|off)$/i.test(env[variable] ?? ""),
  );
  if (cloud !== undefined) return `${cloud} is set; it gets the variables of that cloud.`;
  const key = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"].find(isSet);
  return key === undefined ? "It uses its own login; no key is set in the environment." : `It uses ${key}.`;
}

async function inspectProvider(name: ProviderName, options: InspectOptions, world: World): Promise<BackendState> {
  const provider = PROVIDERS[name];
  const isSet = (variable: string): boolean => (world.env[variable]?.trim() ?? "") !== "";
  const key = provider.keyVariables.find(isSet);
  const { apiKey = "", baseUrl } = options.run?.[name] ?? {};
  const needsKey = provider.keyVariables.length > 0 && apiKey.trim() === "";
  const address = baseUrl ?? (world.env[provider.baseUrlVariable]?.trim() || provider.baseUrl);
  const missing: string[] = [];
  if (needsKey && key === undefined) missing.push(missingKey(name, provider));
  if (address === "") missing.push(missingAddress(name, provider));
  const found = key === undefined ? [] : [`${key} is set.`];
  if (missing.length > 0) return { name, isReady: false, found, missing, can: [] };
  try {
    const url = checkBaseUrl(address, provider.baseUrlVariable);
    const status = await reach(url, options.timeoutMs ?? TIMEOUT_MS, world);
    const host = new URL(url).host;
    return { name, isReady: true, found: [...found, `${host} answers (${status}).`], missing, can: MODEL_CAN };
  } catch (error) {
    const remedy = `Check the network and ${provider.baseUrlVariable}.`;
    const problem = isStartError(error)
      ? error.message
      : `Its host cannot be reached: ${describeThrown(error)} ${remedy}`;
    return { name, isReady: false, found, missing: [problem], can: [] };
  }
}

/** Any response will do, so no key is sent. */
async function reach(url: string, timeoutMs: number, { fetch, clock }: World): Promise<number> {
  const controller = new AbortController();
  const takeBack = clock.after(timeoutMs, () => controller.abort());
  try {
    const response = await fetch({ method: "GET", url, headers: {}, signal: controller.signal });
    // The body is not read; closing it releases the connection.
    await response.body[Symbol.asyncIterator]().return?.();
    return response.status;
  } catch (error) {
    if (controller.signal.aborted) throw new Error(`no answer within ${timeoutMs} ms.`, { cause: error });
    throw error;
  } finally {
    takeBack();
  }
}
