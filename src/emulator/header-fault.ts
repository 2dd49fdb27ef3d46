import { isRecord, parseJson } from "#wire";
import { type Fault, checkFault } from "./fault.ts";
import { Refusal } from "./refusal.ts";

/**
 * The request header that requests a fault. Any SDK can send a header, so any SDK can be tested with it.
 *
 * @example
 * const backend = openai({ model: "any", apiKey: "offline", baseUrl: url, headers: { [FAULT_HEADER]: '{"status":429}' } })
 */
export const FAULT_HEADER = "x-millrace-fault";

const MAX_COUNTED = 1000;

/** Reads the fault that a request asks for, and counts how often it was applied. */
export interface HeaderFaults {
  /** Throws a `Refusal` for a header that is not a fault. */
  take(headers: Readonly<Record<string, string>>): Fault | undefined;
}

export function createHeaderFaults(): HeaderFaults {
  const played = new Map<string, number>();
  return {
    take(headers) {
      const text = headers[FAULT_HEADER];
      if (text === undefined) return undefined;
      const parsed = parseJson(text);
      const value = parsed.fault === undefined ? parsed.value : undefined;
      const mistake =
        parsed.fault === undefined ? checkFault(value, FAULT_HEADER) : `${FAULT_HEADER} is not JSON (${parsed.fault}).`;
      if (mistake !== undefined || !isRecord(value))
        throw new Refusal("invalid", mistake ?? `${FAULT_HEADER} is not an object.`);
      const fault: Fault = value;
      if (fault.times === undefined) return fault;
      const count = played.get(text) ?? 0;
      if (count >= fault.times) return undefined;
      if (played.size >= MAX_COUNTED) played.clear();
      played.set(text, count + 1);
      return fault;
    },
  };
}
