import { noticeItem } from "#domain";
import { combine } from "./combine.ts";
import { runGuards, toolOf } from "./guards.ts";
import { copyJson } from "./large-json.ts";
import { occasionOf, type CompiledPolicy } from "./compiled-policy.ts";
import type { CallToCheck, ResultVerdict } from "./policy.ts";
import { isAbout, runHooks } from "./run-hooks.ts";
import { warnOfFailures } from "./warn.ts";
import { withdrawable } from "./withdrawable.ts";

/** A tool's answer. */
interface Answered {
  readonly output: unknown;
  readonly isError: boolean;
}

/**
 * Passes a tool's answer to the guards, then to the hooks. Without either, it passes unchanged. If the question is
 * withdrawn, the signals of guards and hooks fire, and a result the guards have not passed is withheld.
 */
export async function judgeResult(call: CallToCheck, outcome: Answered, all: CompiledPolicy): Promise<ResultVerdict> {
  const parts = withdrawable(call.signal, all);
  const guarded = await guardResult(call, outcome, parts);
  const hooks = parts.hooks["after-tool"].filter(isAbout(call));
  if (hooks.length === 0 || parts.place.signal.aborted) return { ...guarded, notes: [], stop: undefined };
  const { place } = parts;
  const { callId, name, executedBy } = call;
  const { nextTurn } = place;
  const copies: { readonly input: unknown; readonly output: unknown }[] = [];
  for (const _ of hooks) {
    copies.push({ input: await copyJson(call.input, nextTurn), output: await copyJson(guarded.output, nextTurn) });
  }
  const { isError } = guarded;
  const outcomes = await runHooks({
    point: "after-tool",
    hooks,
    occasion: (signal) => {
      const { input, output } = copies.shift() ?? { input: undefined, output: undefined };
      return { ...occasionOf(place, signal), callId, name, input, executedBy, output, isError };
    },
    watch: parts.watch,
    clock: place.clock,
    nextTurn,
  });
  const combined = combine(outcomes);
  if (combined.isAborted) return { ...guarded, notes: [], stop: undefined };
  warnOfFailures("after-tool", combined, place);
  return {
    output: combined.output === undefined ? guarded.output : combined.output.value,
    isError: guarded.isError,
    // A block cannot undo the output, so its reason is given to the model next to it.
    notes: combined.block === undefined ? combined.notes : [combined.block, ...combined.notes],
    stop: combined.stop,
  };
}

/** A result that is denied, or cannot be checked, is withheld; the model gets the reason instead. */
async function guardResult(call: CallToCheck, outcome: Answered, parts: CompiledPolicy): Promise<Answered> {
  const { guards, place } = parts;
  const { name, callId } = call;
  const standing = guards["tool-result"].filter(isAbout(call));
  if (standing.length === 0) return outcome;
  const value = outcome.output === undefined ? "" : await copyJson(outcome.output, place.nextTurn);
  if (value === undefined) return withheld("it is not JSON, so no guard can check it");
  const content = { value, name, callId };
  const verdict = await runGuards(standing, content, parts);
  if (verdict.kind === "aborted") {
    const end = call.signal?.aborted === true ? "the question was withdrawn" : "the run was aborted";
    return withheld(`${end} before the guards had passed it`);
  }
  if (verdict.kind === "passed") {
    return verdict.isReplaced ? { output: verdict.value, isError: outcome.isError } : outcome;
  }
  const { guard, reason } = verdict;
  place.write([noticeItem("guard", { guard, place: "tool-result", action: "deny", ...toolOf(content), reason })]);
  return withheld(reason);
}

function withheld(reason: string): Answered {
  return { output: `The tool's result is withheld: ${reason}`, isError: true };
}
