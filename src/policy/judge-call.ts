import { describeThrown, noticeItem, permissionItem, warningItem } from "#domain";
import { callWithLimit, permissionLimit } from "./call-with-limit.ts";
import { combine, type Combined } from "./combine.ts";
import { type CompiledPolicy, occasionOf } from "./compiled-policy.ts";
import { createGrant } from "./grant.ts";
import { runGuards } from "./guards.ts";
import { copyJson, isLargeJson, isSameJson, writeCanonical } from "./large-json.ts";
import type { SeenPaths } from "./path-rules.ts";
import type { Decision } from "./permission.ts";
import type { CallToCheck, CallVerdict } from "./policy.ts";
import { kindOf, type Read, readFields } from "./read-answer.ts";
import { findAllowing, findHit, findPathTargets, readsArguments, rulesFor } from "./rule-set.ts";
import { isAbout, runHooks } from "./run-hooks.ts";
import { describeFailures, warnOfFailures } from "./warn.ts";
import { withdrawable } from "./withdrawable.ts";

/** Why a call is denied after an abort. */
export const ABORTED = "The run was aborted before the call was allowed.";

type Denier = Extract<CallVerdict, { kind: "denied" }>["by"];

/** Decides about one call. Never rejects: a call that cannot be decided is denied. */
export async function judgeCall(call: CallToCheck, parts: CompiledPolicy): Promise<CallVerdict> {
  const decision = new CallDecision(call, withdrawable(call.signal, parts));
  try {
    return await decision.decide();
  } catch (thrown) {
    const reason = `The call could not be decided: ${describeThrown(thrown)}`;
    return { kind: "denied", by: "rule", reason, notes: [], stop: undefined };
  }
}

/** Why a call is denied when its question is withdrawn. */
const WITHDRAWN = "The question was withdrawn before it was answered.";

/** What requires a person's decision, and why. */
interface Question {
  readonly by: "rule" | "hook" | "callback";
  readonly reason: string | undefined;
}

/** The decision about one call, from the first hook to the final verdict. */
class CallDecision {
  private readonly _call: CallToCheck;
  private readonly _parts: CompiledPolicy;
  /** A private copy, so that the arguments cannot change while they are being decided. */
  private _original: unknown;
  private _input: unknown;
  /** The resolved paths of the input. */
  private _seen: SeenPaths | undefined;
  /** Large arguments as JSON, for rules about arguments as a whole. */
  private _written: { readonly input: unknown; readonly json: string } | undefined;
  private _notes: readonly string[] = [];
  private _stop: string | undefined;

  constructor(call: CallToCheck, parts: CompiledPolicy) {
    this._call = call;
    this._parts = { ...parts, rules: rulesFor(parts.rules, call) };
  }

  async decide(): Promise<CallVerdict> {
    // Not awaited unless it is large.
    const original = this._call.input === undefined ? null : this._copy(this._call.input);
    this._original = original instanceof Promise ? await original : original;
    this._input = this._original;
    if (this._original === undefined) return this._deny("rule", "The arguments of the call are not JSON.");
    if (this._isAborted()) return this._denyAborted("rule");
    const hooks = await this._runHooks();
    if (hooks.isAborted || this._isAborted()) return this._denyAborted("hook");
    this._notes = hooks.notes;
    this._stop = hooks.stop;
    if (hooks.input !== undefined) this._input = hooks.input.value;
    warnOfFailures("before-tool", hooks, this._parts.place, `${this._call.name} does not run.`);
    const refusal = whyRefused(hooks);
    if (refusal !== undefined) return (await this._denyByRule()) ?? this._deny("hook", refusal);
    const guarded = await this._runGuards("replace");
    return guarded ?? (await this._denyByRule()) ?? this._decideAllowed(hooks);
  }

  private _deny(by: Denier, reason: string): CallVerdict {
    this._write("denied", by, reason);
    return { kind: "denied", by, reason, notes: this._notes, stop: this._stop };
  }

  /** Nothing denies the call. Decides whether something allows it or it has to be asked about. */
  private async _decideAllowed(hooks: Combined): Promise<CallVerdict> {
    const { rules, permission } = this._parts;
    const { name } = this._call;
    const question = this._findQuestion(hooks);
    if (question === undefined) {
      const allowing = findAllowing(rules.allow, name, this._input, this._seen, this._json);
      if (allowing !== undefined) return this._allow("rule", `Allowed by ${nameRules(allowing)}.`);
      if (hooks.allow) return this._allow("hook", "Allowed by a before-tool hook.");
    }
    const otherwise = this._call.isFinal === true ? "allow" : rules.otherwise;
    if (question === undefined && otherwise === "deny") return this._deny("rule", noRuleAllows(name));
    const asked = question ?? (otherwise === "ask" ? { by: "rule" as const, reason: noRuleAllows(name) } : undefined);
    if (permission !== undefined) return this._askCallback(permission, asked);
    if (asked !== undefined) return this._askPerson(asked);
    return this._allow("rule", "No rule says otherwise.", rules.hasOtherwise);
  }

  /** Rules come before hooks; the reasons of both are shown. */
  private _findQuestion(hooks: Combined): Question | undefined {
    const { rules } = this._parts;
    const asking = findHit(rules.ask, this._call.name, this._input, this._seen, this._json);
    // A call that may fall under a deny rule, but cannot be read with certainty, is asked about.
    const denying = findHit(rules.deny, this._call.name, this._input, this._seen, this._json);
    if (asking === undefined && denying === undefined) return hooks.ask && { by: "hook", reason: hooks.ask.reason };
    const reasons = [
      denying && `It is not certain what this does, and the rule "${denying.rule.text}" may deny it.`,
      asking && `The rule "${asking.rule.text}" requires a person to decide.`,
      hooks.ask?.reason,
    ];
    return { by: "rule", reason: reasons.filter((reason) => reason !== undefined).join("\n") };
  }

  private async _askCallback(
    permission: NonNullable<CompiledPolicy["permission"]>,
    question: Question | undefined,
  ): Promise<CallVerdict> {
    const { callId, name } = this._call;
    const { runId, agent, context, clock } = this._parts.place;
    const { watch, permissionMs } = this._parts;
    const input = await this._copy(this._input);
    const consulted = await callWithLimit({
      start: (own) =>
        permission({
          callId,
          name,
          input,
          agent,
          runId,
          context,
          reason: question?.reason,
          signal: own,
        }),
      limitMs: permissionLimit(permission, permissionMs),
      watch,
      clock,
    });
    if (consulted.kind === "aborted") return this._denyAborted("callback");
    if (consulted.kind === "failed") return this._denyFailed(consulted.why);
    if (consulted.value === "ask") return this._askPerson(question ?? { by: "callback", reason: undefined });
    return this._settle("callback", consulted.value);
  }

  /** A callback that fails denies, with a warning: without one, the denial would look like a decision. */
  private _denyFailed(why: string): CallVerdict {
    const { callId, name } = this._call;
    const message = `The permission callback ${why}, so ${name} was denied.`;
    this._parts.place.write([warningItem({ code: "permission-failed", message, context: { callId, name, why } })]);
    return this._deny("callback", `The permission callback ${why}.`);
  }

  private async _askPerson({ by, reason }: Question): Promise<CallVerdict> {
    const { place, watch } = this._parts;
    const { callId, name } = this._call;
    const { ask, clock } = place;
    const input = await this._copy(this._input);
    if (this._isAborted()) return this._denyAborted("user");
    // Checked before the event is written: a `once` listener is removed as soon as it has received the question.
    const canAnswer = place.canAnswer?.() !== false;
    this._write("asked", by, reason, input);
    if (!canAnswer) return this._denyUnanswered(by);
    place.write([noticeItem("waiting", { for: "answer", callId, name })]);
    const consulted = await callWithLimit({ start: () => ask(this._call.callId), limitMs: undefined, watch, clock });
    if (consulted.kind === "aborted") return this._denyAborted("user");
    if (consulted.kind === "failed") return this._deny("user", `The question could not be asked: it ${consulted.why}.`);
    return this._settle("user", consulted.value);
  }

  private _denyUnanswered(by: Question["by"]): CallVerdict {
    const { callId, name } = this._call;
    const message =
      `${name} needs permission, but nothing can grant it: there is no permission callback, and the events of this run ` +
      `have no reader. Set permission, listen with run.on("permission", …) and call run.answer, or name the call in permissions.allow.`;
    this._parts.place.write([warningItem({ code: "nobody-can-answer", message, context: { callId, name } })]);
    return this._deny(by, `${name} needs permission, and no one is available to grant it.`);
  }

  /**
   * Applies the answer of a callback or a person. Arguments that the answer changed are checked again by whatever can
   * deny them.
   */
  private async _settle(by: "callback" | "user", answer: unknown): Promise<CallVerdict> {
    if (this._isAborted()) return this._denyAborted(by);
    const who = by === "callback" ? "The permission callback" : "A person";
    const read = await readDecision(answer, (input) => this._copy(input));
    if (!read.fits) return by === "callback" ? this._denyFailed(read.wrong) : this._deny(by, `${who} ${read.wrong}.`);
    const decision = read.answer;
    if (this._isAborted()) return this._denyAborted(by);
    if (!decision.allow) return this._deny(by, decision.reason ?? `${who} said no.`);
    if ("input" in decision && !(await isSameJson(decision.input, this._input, this._parts.place.nextTurn))) {
      this._input = decision.input;
      const refused = (await this._denyByRule()) ?? (await this._runGuards("deny"));
      if (refused !== undefined) return refused;
    }
    return this._allow(by, `${who} said yes.`);
  }

  /** `isExplicit`: something allowed the call explicitly, rather than by default. */
  private async _allow(by: Denier, reason: string, isExplicit = true): Promise<CallVerdict> {
    const { signal, nextTurn } = this._parts.place;
    const input = this._input;
    const isChanged = input !== this._original && !(await isSameJson(input, this._original, nextTurn));
    const shown = isChanged ? await this._copy(input) : undefined;
    if (this._isAborted()) return this._denyAborted(by);
    this._write("allowed", by, reason, shown);
    const grant = createGrant({ input, signal, nextTurn });
    return {
      kind: "run",
      input,
      grant,
      notes: this._notes,
      stop: this._stop,
      ...(isExplicit && by !== "guard" && { by }),
    };
  }

  /** Writes large arguments in several turns of the event loop, if a rule reads the arguments of this tool. */
  private async _writeLarge(): Promise<void> {
    const { rules, place } = this._parts;
    const input = this._input;
    if (place.nextTurn === undefined || !readsArguments(rules, this._call.name) || !isLargeJson(input)) return;
    this._written = { input, json: await writeCanonical(input, place.nextTurn) };
  }

  private get _json(): string | undefined {
    return this._written?.input === this._input ? this._written?.json : undefined;
  }

  private async _denyByRule(): Promise<CallVerdict | undefined> {
    await this._writeLarge();
    this._seen = await this._see();
    const hit = findHit(this._parts.rules.deny, this._call.name, this._input, this._seen, this._json);
    return hit?.isCertain === true ? this._deny("rule", `The rule "${hit.rule.text}" denies it.`) : undefined;
  }

  /** Resolves the call's paths if a rule is about them. */
  private async _see(): Promise<SeenPaths | undefined> {
    const { paths, rules } = this._parts;
    const wanted = paths && findPathTargets(rules, this._call.name, this._input, this._json);
    return wanted && paths?.see(wanted.rules, wanted.targets, this._call.cwd);
  }

  /**
   * Writes no event for an abort, because nothing was decided: the run answers the call and reports the abort. A
   * withdrawn question is answered with a denial.
   */
  private _denyAborted(by: Denier): CallVerdict {
    if (this._call.signal?.aborted === true) return this._deny(by, WITHDRAWN);
    return { kind: "denied", by, reason: ABORTED, notes: this._notes, stop: this._stop };
  }

  private async _runHooks(): Promise<Combined> {
    const { hooks, place, watch } = this._parts;
    const { callId, name, executedBy } = this._call;
    const concerned = hooks["before-tool"].filter(isAbout(this._call));
    const inputs: unknown[] = [];
    for (const _ of concerned) inputs.push(await this._copy(this._original));
    const outcomes = await runHooks({
      point: "before-tool",
      hooks: concerned,
      occasion: (signal) => ({ ...occasionOf(place, signal), callId, name, input: inputs.shift(), executedBy }),
      watch,
      clock: place.clock,
      nextTurn: place.nextTurn,
    });
    return combine(outcomes);
  }

  /**
   * Passes the arguments to the guards. Once exactly these arguments have been approved, a guard may still deny them
   * but no longer change them.
   */
  private async _runGuards(onReplace: "replace" | "deny"): Promise<CallVerdict | undefined> {
    const { guards } = this._parts;
    const { callId, name } = this._call;
    const standing = guards["tool-call"].filter(isAbout(this._call));
    if (standing.length === 0) return this._isAborted() ? this._denyAborted("guard") : undefined;
    const verdict = await runGuards(standing, { value: await this._copy(this._input), name, callId }, this._parts);
    if (verdict.kind === "aborted" || this._isAborted()) return this._denyAborted("guard");
    if (verdict.kind === "denied") return this._deny("guard", verdict.reason);
    if (onReplace === "deny" && !(await isSameJson(verdict.value, this._input, this._parts.place.nextTurn))) {
      return this._deny("guard", "A guard would change the arguments that were just approved.");
    }
    this._input = verdict.value;
    return undefined;
  }

  /** For hooks, callbacks, guards and events, which must not hold the very arguments that will run. */
  private _copy(value: unknown): unknown {
    return copyJson(value, this._parts.place.nextTurn);
  }

  private _isAborted(): boolean {
    return this._parts.place.signal.aborted;
  }

  private _write(state: "asked" | "allowed" | "denied", by: Denier, reason: string | undefined, input?: unknown): void {
    const { callId, name } = this._call;
    this._parts.place.write([
      permissionItem({
        callId,
        name,
        state,
        by,
        ...(reason !== undefined && { reason }),
        // A copy: events are shared with all readers, and must not hold the very arguments that will run.
        ...(input !== undefined && { input }),
      }),
    ]);
  }
}

/** Why the hooks deny the call: one blocked it, one failed, or one ends the run. */
function whyRefused(hooks: Combined): string | undefined {
  const reasons = [hooks.block, describeFailures("before-tool", hooks)].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return reasons.join("\n") || "A before-tool hook said no.";
  return hooks.stop;
}

function noRuleAllows(name: string): string {
  return `No rule allows ${name} with these arguments.`;
}

function nameRules(rules: readonly { readonly text: string }[]): string {
  const names = rules.map(({ text }) => `"${text}"`);
  return names.length === 1 ? `the rule ${names[0]}` : `the rules ${names.join(", ")}`;
}

/** Reads the answer to a permission question. Anything that is not exactly a decision is rejected. */
async function readDecision(value: unknown, copyOf: (input: unknown) => unknown): Promise<Read<Decision>> {
  const fields = readFields(value);
  if (!fields.fits) return fields;
  const { allow, input, reason, ...more } = Object.fromEntries(fields.answer);
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return wrong(`answered with "${unknown}", which a decision does not know`);
  if (allow === false) {
    if (input !== undefined) return wrong('answered with an "input" although it said no');
    if (reason !== undefined && typeof reason !== "string") {
      return wrong(`answered with ${kindOf(reason)} as "reason", which takes a string`);
    }
    return { fits: true, answer: reason === undefined ? { allow } : { allow, reason } };
  }
  if (allow !== true) return wrong(`answered with ${kindOf(allow)} as "allow", which takes true or false`);
  if (reason !== undefined) return wrong('answered with a "reason" although it said yes');
  if (input === undefined) return { fits: true, answer: { allow } };
  const copy = await copyOf(input);
  return copy === undefined
    ? wrong('answered with an "input" that is not JSON')
    : { fits: true, answer: { allow, input: copy } };
}

function wrong(text: string): { readonly fits: false; readonly wrong: string } {
  return { fits: false, wrong: text };
}
