import type { Backend } from "#backends";
import { isId, StartError } from "#domain";
import type { Tool } from "#tools";
import type { Limits } from "./options.ts";

/** An agent is data: who answers, with which instructions and tools. */
export interface Agent {
  readonly name: string;
  readonly backend: string | Backend;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  readonly limits?: Limits;
}

/**
 * Defines an agent.
 *
 * @example
 * const clerk = agent({ name: "clerk", backend: "offline", instructions: "Be brief.", tools: [add] })
 */
export function agent(definition: Agent): Agent {
  if (!isId(definition.name)) {
    throw new StartError(
      "invalid-option",
      `agent name ${JSON.stringify(definition.name)} is not valid. Use 1 to 64 letters, digits, _ or -.`,
    );
  }
  if (definition.backend === undefined) {
    throw new StartError("invalid-option", `agent "${definition.name}" has no backend. Give one, such as "offline".`);
  }
  return Object.freeze({ ...definition });
}
