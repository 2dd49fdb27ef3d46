import { createHash } from "node:crypto";
import type { Settings } from "./options.ts";
import type { Readiness } from "./readiness.ts";

const LONGEST_KIND = 64;

/** The kind of the jobs of a target. All nodes have to agree on it, whatever they offer themselves. */
export function kindOfTarget(target: string): string {
  const plain = target.replaceAll(/[^\w-]/g, "_");
  if (plain === target && plain.length <= LONGEST_KIND) return plain;
  // Two targets whose names differ in other characters only are two kinds.
  const digest = createHash("sha256").update(target).digest("hex").slice(0, 8);
  return `${plain.slice(0, LONGEST_KIND - 9)}-${digest}`;
}

/** The targets on whose runs this node can work: those that it offers, and whose programs it has. */
export async function targetsHere(
  { targets, isWorker }: Pick<Settings, "targets" | "isWorker">,
  readiness: Pick<Readiness, "withoutProgram">,
): Promise<readonly string[]> {
  if (!isWorker) return [];
  const missing = await readiness.withoutProgram();
  return targets.filter((target) => !missing.includes(target));
}
