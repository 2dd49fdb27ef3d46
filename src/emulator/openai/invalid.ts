import { Refusal } from "../refusal.ts";

/** A refusal that names its field, as OpenAI's errors do. */
export function invalid(param: string, reason: string, code?: string): Refusal {
  return new Refusal("invalid", `Invalid '${param}': ${reason}`, { param, ...(code !== undefined && { code }) });
}
