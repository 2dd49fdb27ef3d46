import { checkInput, checkOptionNames, describeValue, nearestName, oneOf, StartError } from "#domain";
import { type Agent, agent } from "./agent.ts";

/** Agents that hand over to each other. Data, like an agent. */
export interface Swarm {
  readonly kind: "swarm";
  readonly agents: readonly Agent[];
  /** The name of the agent that starts. */
  readonly start: string;
  /** What an agent sees after a handoff: only the message, or everything before it as well. */
  readonly context: "fresh" | "shared";
}

/** The options of `swarm`. */
export interface SwarmOptions {
  /** The agent that starts. Default: the first. */
  readonly start?: string;
  /** Default `"fresh"`: an agent sees the conversation from the handoff on. */
  readonly context?: "fresh" | "shared";
}

const SWARM_OPTION_NAMES = ["start", "context"] as const satisfies readonly (keyof SwarmOptions)[];

/**
 * Combines agents that may hand over to each other. Unknown names in `handoffs` or `start` throw here.
 *
 * @example
 * const triage = agent({ name: "triage", backend: "offline", handoffs: ["billing"] })
 * const billing = agent({ name: "billing", backend: "offline" })
 * const desk = swarm([triage, billing])
 * await run(desk, "I was charged twice").result()
 */
export function swarm(agents: readonly Agent[], options: SwarmOptions = {}): Swarm {
  if (!Array.isArray(agents) || agents.length === 0) {
    throw invalid(`The agents of a swarm are ${describeValue(agents)}. Give a list with at least one agent.`);
  }
  checkOptionNames(options, SWARM_OPTION_NAMES, "a swarm");
  const checked = agents.map((one) => agent(one));
  const names = checked.map((one) => one.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`There are two agents called "${twice}". Give each its own name.`);
  for (const one of checked) {
    for (const target of one.handoffs ?? []) requireName(target, names, `agent "${one.name}" hands over to`);
  }
  const start = options.start ?? (names[0] as string);
  requireName(start, names, "The swarm starts with");
  const { context = "fresh" } = options;
  checkInput(oneOf(["fresh", "shared"]), context, "context");
  return Object.freeze({ kind: "swarm", agents: checked, start, context });
}

function requireName(name: string, names: readonly string[], what: string): void {
  if (names.includes(name)) return;
  const near = nearestName(name, names);
  const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
  throw new StartError(
    "unknown-agent",
    `${what} "${name}", which is not one of its agents.${guess} Its agents: ${names.join(", ")}.`,
  );
}

function invalid(message: string): StartError {
  return new StartError("invalid-option", message);
}
