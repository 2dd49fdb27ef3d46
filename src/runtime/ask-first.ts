import { isAbsolute, relative, resolve } from "node:path";
import { asksPerson, type FileSystem, waitForPerson } from "#domain";
import { findReal, type PermissionCallback, seePath } from "#policy";
import { MEMO_TOOLS, READING_TOOLS } from "../backends/claude-code/cli-tools.ts";
import type { Agent } from "./agent.ts";
import { agentOf } from "./agent-tool.ts";
import { ASKS_FIRST } from "./option-row.ts";
import type { RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import { requireName } from "./resolve-backend.ts";

/** Where the run works, and how paths there are resolved. */
interface WorkFolder {
  /** The working folder of this process. */
  readonly folder: string;
  readonly files: Pick<FileSystem, "realPath" | "list">;
}

type Asked = Partial<Agent> & Pick<Agent, "backend">;

/**
 * The options of a run that is requested by someone else, such as over the server: an agent with its own tools asks a
 * person before it uses one that writes, runs or reaches out. Reading in the working folder, and tools that were given
 * to the agent, need no question.
 *
 * Rules in the options come first; a `permission` callback or `permissions.otherwise` decides instead of these
 * defaults: those of the run for all agents, those of an agent for itself.
 */
export function askFirst(target: Target, options: RunOptions, place: WorkFolder): RunOptions {
  const agents = [...withNested([...agentsOf(target), ...nestedIn(options.tools)])];
  const asking = agents.filter((one) => hasOwnTools(one.backend) && !isDecided(one));
  if (isDecided(options) || asking.length === 0) return options;
  const deciding = agents.filter((one) => isDecided(one) && !asking.some(({ name }) => name === one.name));
  const cwd = resolve(place.folder, options.claudeCode?.cwd ?? options.cwd ?? "");
  const permission: PermissionCallback = async (request) => {
    const { agent, name, input, reason } = request;
    const own = deciding.find((one) => one.name === agent);
    if (own?.permission !== undefined) return own.permission(request);
    // A rule or a hook requires a decision.
    if (reason !== undefined) return "ask";
    const given = [options, ...agents.filter((one) => one.name === agent)].flatMap(({ tools }) => tools ?? []);
    const isFree = own !== undefined || MEMO_TOOLS.includes(name) || given.some((tool) => tool.name === name);
    return isFree || (await readsInside(name, input, { folder: cwd, files: place.files })) ? { allow: true } : "ask";
  };
  const waits = deciding.some((one) => asksPerson(one.permission));
  const decide = waits ? waitForPerson(permission) : permission;
  return { ...options, permission: Object.assign(decide, { [ASKS_FIRST]: true }) };
}

/** The options already say what happens to calls that no rule is about. */
function isDecided({ permission, permissions }: Pick<RunOptions, "permission" | "permissions">): boolean {
  return permission !== undefined || permissions?.otherwise !== undefined;
}

function agentsOf(target: Target): readonly Asked[] {
  if (typeof target === "string") return [{ backend: target }];
  if ("agents" in target) return target.agents;
  return "backend" in target ? [target] : [{ backend: target }];
}

/** These agents, and those that are tools of theirs. */
function withNested(agents: readonly Asked[]): ReadonlySet<Asked> {
  const all = new Set(agents);
  // The set grows while it is walked through.
  for (const { tools } of all) for (const one of nestedIn(tools)) all.add(one);
  return all;
}

function nestedIn(tools: Agent["tools"]): readonly Agent[] {
  return (tools ?? []).map(({ run }) => agentOf(run)).filter((one) => one !== undefined);
}

/** A command uses tools of its own as well, but never asks; whoever names it as a target accepts that. */
function hasOwnTools(backend: Agent["backend"]): boolean {
  if (typeof backend !== "string") return backend.kind === "agent" && backend.name !== "command";
  return requireName(backend).name === "claude-code";
}

/** Whether a call only reads files that are really in the working folder: a link in it may lead anywhere. */
async function readsInside(name: string, input: unknown, { folder, files }: WorkFolder): Promise<boolean> {
  const fields = Object.hasOwn(READING_TOOLS, name) ? READING_TOOLS[name] : undefined;
  if (fields === undefined || typeof input !== "object" || input === null) return false;
  const top = await findReal(folder, files);
  if (top === undefined) return false;
  const lookup = { ...files, cwd: folder, home: undefined, ignoresCase: false };
  for (const field of fields) {
    const value = Object.hasOwn(input, field) ? (input as Readonly<Record<string, unknown>>)[field] : undefined;
    if (value === undefined) continue;
    if (typeof value !== "string" || value.split(/[\\/]/).includes("..")) return false;
    const { real } = await seePath(beforeStars(value), lookup, [folder]);
    if (real === undefined || !real.every((path) => isInside(path, top))) return false;
  }
  return true;
}

/** The folder in which a pattern begins. */
function beforeStars(pattern: string): string {
  const star = pattern.search(/[*?[{]/);
  return star === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf("/", star) + 1) || ".";
}

function isInside(path: string, top: string): boolean {
  const way = relative(top, path);
  return !isAbsolute(way) && way.split(/[\\/]/)[0] !== "..";
}
