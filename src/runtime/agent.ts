import type { Backend } from "#backends";
import { isId, StartError } from "#domain";
import type { Tool } from "#tools";
import { checkLimits, checkNames, checkText, checkTools, isBackend } from "./check-options.ts";
import { describeValue } from "./describe-value.ts";
import type { Limits } from "./options.ts";

/** An agent is data: who answers, with which instructions and tools. */
export interface Agent {
  readonly name: string;
  readonly backend: string | Backend;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  readonly limits?: Limits;
}

const AGENT_FIELDS = ["name", "backend", "instructions", "tools", "limits"] as const satisfies readonly (keyof Agent)[];

/**
 * Defines an agent. Wrong definitions throw `StartError` here, not when the agent is first asked.
 *
 * @example
 * const clerk = agent({ name: "clerk", backend: "offline", instructions: "Be brief.", tools: [add] })
 */
export function agent(definition: Agent): Agent {
  if (typeof definition !== "object" || definition === null) {
    throw invalid(`The agent is ${describeValue(definition)}. Give { name, backend }.`);
  }
  const { name, backend, instructions, tools, limits } = definition;
  if (typeof name !== "string" || !isId(name)) {
    throw invalid(`agent name ${describeValue(name)} is not valid. Use 1 to 64 letters, digits, _ or -.`);
  }
  if (backend === undefined) throw invalid(`agent "${name}" has no backend. Give one, such as "offline".`);
  if (typeof backend !== "string" && !isBackend(backend)) {
    throw invalid(`agent "${name}": backend is ${describeValue(backend)}. Give one, such as "offline".`);
  }
  checkNames(definition, AGENT_FIELDS, "field of an agent called ");
  checkText(`agent "${name}": instructions`, instructions);
  if (tools !== undefined) checkTools(tools);
  checkLimits(limits);
  return Object.freeze({ ...definition });
}

function invalid(message: string): StartError {
  return new StartError("invalid-option", message);
}
