import type { Message, RunStatus } from "#domain";
import { type Combined, combine } from "./combine.ts";
import { SHORTEST_LIMIT_MS } from "./call-with-limit.ts";
import { ABORTED, judgeCall } from "./judge-call.ts";
import { judgePrompt } from "./judge-prompt.ts";
import { judgeResult } from "./judge-result.ts";
import { createOutputGate } from "./output-gate.ts";
import { occasionOf, type CompiledPolicy, compilePolicy } from "./compiled-policy.ts";
import { createGrant } from "./grant.ts";
import type { Occasion, Point, Points } from "./point.ts";
import type {
  HookEffects,
  CallToCheck,
  CallVerdict,
  HandoffVerdict,
  OutputGate,
  PolicyContext,
  PolicySettings,
  PromptVerdict,
  ResultVerdict,
  RunPolicy,
  StopVerdict,
} from "./policy.ts";
import { runHooks } from "./run-hooks.ts";
import { describeFailures, warnOfFailures } from "./warn.ts";
import { withdrawable } from "./withdrawable.ts";

type Handoff = Parameters<RunPolicy["checkHandoff"]>[0];

/**
 * Creates the policy of one leg of one run. The settings must have been checked (`checkHooks`, `checkRules`,
 * `checkPermission`, `checkGuards`). The caller's functions only ever receive copies.
 *
 * @throws StartError `invalid-option` for a rule that cannot be read.
 */
export function createPolicy(settings: PolicySettings, place: PolicyContext): RunPolicy {
  const parts = compilePolicy(settings, place);
  return new LegPolicy(parts, settings.outputMode ?? "buffer");
}

class LegPolicy implements RunPolicy {
  readonly isSilentOnTools: boolean;
  readonly isSilentOnOutput: boolean;
  private readonly _parts: CompiledPolicy;
  private readonly _outputMode: NonNullable<PolicySettings["outputMode"]>;

  constructor(parts: CompiledPolicy, outputMode: NonNullable<PolicySettings["outputMode"]>) {
    this._parts = parts;
    this._outputMode = outputMode;
    this.isSilentOnTools = isSilentOnTools(parts);
    this.isSilentOnOutput = parts.guards.output.length === 0;
  }

  checkPrompt(messages: readonly Message[]): Promise<PromptVerdict> {
    return judgePrompt(messages, this._parts);
  }

  async checkCall(call: CallToCheck): Promise<CallVerdict> {
    if (!this.isSilentOnTools) return judgeCall(call, this._parts);
    const { signal, nextTurn } = this._parts.place;
    if (signal.aborted) return { kind: "denied", by: "rule", reason: ABORTED, notes: [], stop: undefined };
    const { input } = call;
    const grant = createGrant({ input, signal, nextTurn });
    return { kind: "run", input, grant, notes: [], stop: undefined };
  }

  checkResult(call: CallToCheck, outcome: { output: unknown; isError: boolean }): Promise<ResultVerdict> {
    return judgeResult(call, outcome, this._parts);
  }

  async checkHandoff(handoff: Handoff): Promise<HandoffVerdict> {
    const combined = await this._run("before-handoff", (occasion) => ({ ...occasion, ...namesOf(handoff) }));
    const { notes, stop } = combined;
    if (combined.isAborted || this._parts.place.signal.aborted) {
      return { kind: "blocked", reason: "The run was aborted before the handoff.", notes, stop };
    }
    warnOfFailures("before-handoff", combined, this._parts.place, "There is no handoff.");
    const refusals = [combined.block, describeFailures("before-handoff", combined), stop];
    const reason = refusals.find((refusal) => refusal !== undefined);
    if (reason !== undefined) {
      return { kind: "blocked", reason: reason === "" ? "A before-handoff hook said no." : reason, notes, stop };
    }
    return { kind: "go", message: combined.message ?? handoff.message, notes, stop };
  }

  async noteHandoff(handoff: Handoff): Promise<HookEffects> {
    const combined = await this._run("after-handoff", (occasion) => ({ ...occasion, ...namesOf(handoff) }));
    warnOfFailures("after-handoff", combined, this._parts.place);
    return { notes: combined.notes, stop: combined.stop };
  }

  async checkStop(text: string, sentBack: number, signal?: AbortSignal): Promise<StopVerdict> {
    const parts = withdrawable(signal, this._parts);
    const combined = await this._run("before-stop", (occasion) => ({ ...occasion, text, sentBack }), parts);
    warnOfFailures("before-stop", combined, parts.place);
    const { block, notes, stop } = combined;
    if (block === undefined || combined.isAborted || parts.place.signal.aborted) {
      return { kind: "stop", notes, stop };
    }
    // A block wins over a stop: at this point, a block means that the agent should go on.
    return { kind: "go-on", feedback: block === "" ? "Go on." : block, notes, stop: undefined };
  }

  async noteEnd(status: RunStatus, text: string): Promise<void> {
    const combined = await this._run("run-end", (occasion) => ({ ...occasion, status, text }));
    warnOfFailures("run-end", combined, this._parts.place);
  }

  createOutputGate(): OutputGate {
    return createOutputGate({
      guards: this._parts.guards.output,
      mode: this._outputMode,
      context: this._parts,
    });
  }

  private async _run<Name extends Point>(
    point: Name,
    makeOccasion: (occasion: Occasion) => Points[Name],
    parts: CompiledPolicy = this._parts,
  ): Promise<Combined> {
    const { hooks, place, watch } = parts;
    // Run-end hooks also run after an abort, but then with a short limit, because an abort must not take long.
    const isEnd = point === "run-end";
    const outcomes = await runHooks<Name>({
      point,
      hooks: hooks[point],
      occasion: (signal) => makeOccasion(occasionOf(place, signal)),
      watch: isEnd ? undefined : watch,
      clock: place.clock,
      longestMs: isEnd && place.signal.aborted ? SHORTEST_LIMIT_MS : undefined,
    });
    return combine(outcomes);
  }
}

function namesOf({ from, to, message }: Handoff): Handoff {
  return { from, to, message };
}

function isSilentOnTools({ hooks, rules, permission, guards }: CompiledPolicy): boolean {
  const watching = [
    hooks["before-tool"],
    hooks["after-tool"],
    rules.allow,
    rules.ask,
    rules.deny,
    guards["tool-call"],
    guards["tool-result"],
  ];
  const isOpen = rules.otherwise === "allow" && !rules.hasOtherwise;
  return permission === undefined && isOpen && watching.every((list) => list.length === 0);
}
