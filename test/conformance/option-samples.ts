import type { RunOptions } from "#runtime";
import { tool } from "#tools";
import type { SupportedOption } from "../../src/runtime/option-table.ts";
import { PROOFS } from "./option-proofs.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

/** Each option with a value that asks for something: the one its proof is made with, or one that agents take. */
export const SAMPLES = {
  ...Object.fromEntries(Object.entries(PROOFS).map(([option, { options }]) => [option, options])),
  toolChoice: { tools: [add], toolChoice: "required" },
  guards: { guards: [{ name: "g", place: "input", check: () => undefined }] },
  "limits.turns": { limits: { turns: 3 } },
  "limits.handoffs": { limits: { handoffs: 3 } },
  "limits.costUsd": { limits: { costUsd: 3 } },
  "limits.tokens": { limits: { tokens: 100_000 } },
  "limits.timeoutMs": { limits: { timeoutMs: 100_000 } },
  "limits.idleMs": { limits: { idleMs: 100_000 } },
  "limits.toolMs": { tools: [add], limits: { toolMs: 100_000 } },
  "limits.permissionMs": { limits: { permissionMs: 100_000 } },
  "limits.parkMs": { limits: { parkMs: 100_000 } },
  signal: { signal: new AbortController().signal },
  fallback: { fallback: "openai/gpt-5" },
  permission: { permission: () => ({ allow: true }) },
  "session.resume": { session: { resume: "a" } },
  "session.continue": { session: { continue: true } },
  "session.orReplay": { session: { resume: "a", orReplay: true } },
  "session.fork": { session: { continue: true, fork: true } },
  cwd: { cwd: "/tmp" },
  env: { env: { A: "b" } },
  strict: { strict: false },
  record: {},
  // Judged before anything is planned: a tape has to be there.
  replay: {},
  "replay.tape": {},
  "replay.onDifference": {},
  "replay.allowTorn": {},
  "replay.allowEdited": {},
  claudeCode: { claudeCode: { effort: "low" } },
} as unknown as { readonly [Option in SupportedOption]: RunOptions };
