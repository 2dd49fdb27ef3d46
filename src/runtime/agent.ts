import { HANDOFF_TOOL } from "#agents";
import type { Backend } from "#backends";
import { aText, checkInput, checkNames, describeValue, isId, StartError } from "#domain";
import type { SchemaInput, Tool } from "#tools";
import { checkLimits, checkOutput, checkPolicy, checkTools, isBackend } from "./check-options.ts";
import type { Limits, PolicyOptions } from "./options.ts";

/**
 * An agent is data: the backend that answers, its instructions, tools and rules, and the agents it may hand over to.
 */
export interface Agent<Output extends SchemaInput | undefined = SchemaInput | undefined> extends PolicyOptions {
  readonly name: string;
  readonly backend: string | Backend;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  /** The names of the agents in its swarm that it may hand over to. */
  readonly handoffs?: readonly string[];
  readonly limits?: Limits;
  /** The shape of its final answer. */
  readonly output?: Output;
}

const AGENT_FIELDS = [
  "name",
  "backend",
  "instructions",
  "tools",
  "handoffs",
  "hooks",
  "permission",
  "permissions",
  "guards",
  "outputMode",
  "limits",
  "output",
] as const satisfies readonly (keyof Agent)[];

/**
 * Defines an agent. An invalid definition throws `StartError` here, not when the agent is first used.
 *
 * @example
 * const clerk = agent({ name: "clerk", backend: "offline", instructions: "Be brief.", tools: [add] })
 */
export function agent<const Output extends SchemaInput | undefined = undefined>(
  definition: Agent<Output>,
): Agent<Output> {
  if (typeof definition !== "object" || definition === null) {
    throw invalid(`The agent is ${describeValue(definition)}. Give { name, backend }.`);
  }
  const { name, backend, instructions, tools, limits, handoffs } = definition;
  if (typeof name !== "string" || !isId(name)) {
    throw invalid(`agent name ${describeValue(name)} is not valid. Use 1 to 64 letters, digits, _ or -.`);
  }
  if (backend === undefined) throw invalid(`agent "${name}" has no backend. Give one, such as "offline".`);
  if (typeof backend !== "string" && !isBackend(backend)) {
    throw invalid(`agent "${name}": backend is ${describeValue(backend)}. Give one, such as "offline".`);
  }
  checkNames(definition, AGENT_FIELDS, "field of an agent called ");
  if (instructions !== undefined) checkInput(aText, instructions, `agent "${name}": instructions`);
  if (tools !== undefined) checkTools(tools);
  checkHandoffs(name, handoffs, tools ?? []);
  checkLimits(limits);
  checkPolicy(definition);
  checkOutput(definition.output);
  return Object.freeze({ ...definition });
}

function checkHandoffs(name: string, handoffs: unknown, tools: readonly Tool[]): void {
  if (handoffs === undefined) return;
  if (!Array.isArray(handoffs) || !handoffs.every((target) => typeof target === "string")) {
    throw invalid(`agent "${name}": handoffs is ${describeValue(handoffs)}. Give a list of agents' names.`);
  }
  if (handoffs.includes(name))
    throw invalid(`agent "${name}" hands over to itself. Leave its own name out of handoffs.`);
  if (handoffs.length > 0 && tools.some((tool) => tool.name === HANDOFF_TOOL)) {
    throw invalid(
      `agent "${name}" has a tool called "${HANDOFF_TOOL}", which is the name of the one it hands over with. Rename the tool.`,
    );
  }
}

function invalid(message: string): StartError {
  return new StartError("invalid-option", message);
}
