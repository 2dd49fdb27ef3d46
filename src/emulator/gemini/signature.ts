import { signThought } from "../ids.ts";

/** The mark on the first call of a reply, which has to come back with it. */
export function signCall(name: string): string {
  return signThought(`call ${name}`);
}

/** The two texts that stand for "this call was made by another model", which Gemini takes. */
const FOREIGN: ReadonlySet<string> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

export function isGeminiSignature(signature: string, name: string): boolean {
  return FOREIGN.has(signature) || signature === signCall(name);
}
