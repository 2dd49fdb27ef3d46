import {
  type Clock,
  elapsedSince,
  errorItem,
  handoffItem,
  type Message,
  messageItem,
  type Random,
  resultItem,
  type RunStatus,
  StartError,
  warningItem,
} from "#domain";
import {
  createPolicy,
  findNeverMatching,
  findShadowed,
  type HookEffects,
  otherwiseOf,
  type PathLookup,
  type PermissionRules,
  type PolicySettings,
  type RunPolicy,
  strictest,
} from "#policy";
import { createShortConversations, runAgentLeg } from "./agent-leg.ts";
import { Budget, type RunLimits } from "./budget.ts";
import { describeEnd } from "./end-message.ts";
import { HANDOFF_TOOL } from "./handoff.ts";
import type { AgentLeg, Conversations, Leg, LegEnd, LegWork, ModelLeg, Price } from "./leg.ts";
import type { RunSource, RunWriter } from "./run.ts";
import { runModelLeg } from "./runner.ts";
import { UniqueIds } from "./unique-ids.ts";

/** Everything one run needs beside its input: its agents, its limits, its seams. */
export interface RunPlan {
  /** The agents, by name; an agent without a name stands alone. */
  readonly legs: readonly Leg[];
  /** Who begins. Default: the first. */
  readonly start?: string | undefined;
  readonly context: unknown;
  readonly limits: RunLimits;
  /** What an agent sees that was handed to: only the message (default), or everything before it too. */
  readonly handoffContext?: "fresh" | "shared" | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly price: Price;
  /** Where paths in permission rules and tool calls lead. */
  readonly paths?: PathLookup | undefined;
  /** Keeps agents' conversations beyond this run. Default: each is closed when its leg is over. */
  readonly conversations?: Conversations | undefined;
  /** Plans an agent that is to be carried out within a tool call. */
  readonly planNested?: ((agent: unknown) => RunPlan) | undefined;
  /** The run this one stands in, as a tool call of it. */
  readonly outer?: {
    readonly budget: Budget;
    readonly ids: UniqueIds;
    readonly depth: number;
    readonly inherited: PermissionRules | undefined;
  };
}

/**
 * Carries out a run: one leg after the other, following the handoffs between agents. Every leg gives its own `result`;
 * the run is done when the last one is (S2-24, S2-31). The last message is the one to answer.
 */
export function createRunSource(plan: RunPlan, messages: readonly Message[]): RunSource {
  return async (writer) => {
    const run = new SwarmRun(plan, writer);
    try {
      await run.carryOut(messages);
    } finally {
      run.release();
      await run.waitForNested();
    }
  };
}

const NOBODY_WATCHES: PolicySettings = {
  hooks: [],
  rules: [],
  permission: undefined,
  guards: [],
  outputMode: undefined,
};

class SwarmRun {
  private readonly _plan: RunPlan;
  private readonly _writer: RunWriter;
  private readonly _budget: Budget;
  private readonly _ids: UniqueIds;
  private readonly _nested = new Set<Promise<void>>();
  private _conversations: Conversations | undefined;
  private readonly _stopClock: () => void;
  /** What agents before this one may not do. */
  private _inherited: PermissionRules | undefined;
  private readonly _warned = new Set<Leg>();
  private _isExpired = false;

  constructor(plan: RunPlan, writer: RunWriter) {
    this._plan = plan;
    this._budget = new Budget(plan.limits, plan.outer?.budget);
    this._ids = plan.outer?.ids ?? new UniqueIds();
    this._inherited = plan.outer?.inherited;
    this._conversations = plan.conversations;
    const timed = this._limitTime(writer);
    this._writer = timed.writer;
    this._stopClock = timed.stop;
  }

  release(): void {
    this._stopClock();
  }

  /** A tool call that was given up may leave an agent behind that is still being brought down. */
  async waitForNested(): Promise<void> {
    await Promise.allSettled(this._nested);
  }

  /** A leg ends when the run does, and also when the run's time is up: then the run still has something to say. */
  private _limitTime(writer: RunWriter): { readonly writer: RunWriter; readonly stop: () => void } {
    const { clock, limits } = this._plan;
    if (limits.timeoutMs === undefined) return { writer, stop: () => undefined };
    const latch = writer.latch.branch();
    const stop = clock.after(limits.timeoutMs, () => {
      this._isExpired = true;
      latch.abort(new DOMException("The run's time is up.", "TimeoutError"));
    });
    return { writer: { ...writer, latch }, stop };
  }

  async carryOut(input: readonly Message[]): Promise<void> {
    let leg = this._legOf(this._plan.start ?? this._plan.legs[0]?.agent);
    let policy = this._policyFor(leg);
    await this._warnOfShadowed(leg);
    const prompt = await policy.checkPrompt(input);
    if (this._isAborted()) return;
    if (prompt.kind === "blocked") return this._block(leg, prompt.reason, prompt.by);
    let messages = prompt.messages;
    for (;;) {
      await this._warnOfIgnored(leg);
      const startedAt = this._plan.clock.now();
      const end = await this._runLeg(leg, policy, messages, startedAt);
      if (end.kind !== "handoff") return this._end(policy, end);
      const limit = this._budget.addHandoff();
      if (limit !== undefined) {
        const message = describeEnd(limit, { run: this._plan.limits, leg: leg.limits });
        await this._writeVerdict(leg, { subtype: limit, text: end.text, message });
        return policy.noteEnd("error", end.text);
      }
      const handoff = { from: leg.agent ?? "", to: end.to, message: end.message };
      await this._writer.write([handoffItem(handoff)], leg.agent);
      const { notes, stop } = await policy.noteHandoff(handoff);
      if (stop !== undefined) {
        const message = describeEnd("hook_stopped", { run: this._plan.limits, leg: leg.limits, detail: stop });
        await this._writeVerdict(leg, { subtype: "hook_stopped", text: end.text, message });
        return policy.noteEnd("error", end.text);
      }
      this._inherit(leg);
      messages = this._messagesAfter(end, notes);
      leg = this._legOf(end.to);
      policy = this._policyFor(leg);
    }
  }

  private _runLeg(leg: Leg, policy: RunPolicy, messages: readonly Message[], startedAt: number): Promise<LegEnd> {
    const { context, clock, random, price } = this._plan;
    const work: LegWork = {
      writer: this._writer,
      messages,
      context,
      clock,
      random,
      price,
      policy,
      budget: this._budget,
      ids: this._ids,
      depth: this._plan.outer?.depth,
      inherited: this._inherited,
      nested: this._nested,
      planNested: this._plan.planNested,
    };
    const showInput = async (): Promise<void> => {
      const input = messages.at(-1);
      if (input === undefined) return;
      const { id, blocks, source } = input;
      const shown = messageItem({ id, role: "user", blocks, ...(source !== undefined && { source }) });
      await this._writer.write([shown], leg.agent);
    };
    return leg.backend.kind === "agent"
      ? this._runAgentLeg(leg as AgentLeg, work, showInput, startedAt)
      : this._runModelLeg(leg as ModelLeg, work, showInput, startedAt);
  }

  private async _runAgentLeg(
    leg: AgentLeg,
    work: LegWork,
    showInput: () => Promise<void>,
    startedAt: number,
  ): Promise<LegEnd> {
    this._conversations ??= createShortConversations(this._plan.limits);
    const end = await runAgentLeg(leg, work, this._conversations, showInput);
    await this._noteTimeout(leg, end, startedAt);
    return end;
  }

  private async _runModelLeg(
    leg: ModelLeg,
    work: LegWork,
    showInput: () => Promise<void>,
    startedAt: number,
  ): Promise<LegEnd> {
    const { end, ledger } = await runModelLeg(leg, work, showInput);
    const { usage, costUsd } = await ledger.total();
    if (end.kind === "verdict" || end.kind === "handoff") {
      const ms = elapsedSince(this._plan.clock, startedAt);
      const structured = end.kind === "verdict" ? end.structured : undefined;
      const subtype = end.kind === "handoff" ? "handoff" : end.subtype;
      const message = end.kind === "handoff" ? undefined : end.message;
      const { text, turns } = end;
      await this._writeVerdict(leg, { subtype, text, message, usage, costUsd, turns, ms, structured });
    } else await this._noteTimeout(leg, end, startedAt, { usage, costUsd });
    return end;
  }

  /** A leg that ended because the run's time was up has no verdict of its own. */
  private async _noteTimeout(leg: Leg, end: LegEnd, startedAt: number, spent: Partial<Verdict> = {}): Promise<void> {
    if (end.kind !== "over" || !this._isExpired || this._isAborted()) return;
    const ms = elapsedSince(this._plan.clock, startedAt);
    const message = describeEnd("error_timeout", { run: this._plan.limits, leg: leg.limits });
    await this._writeVerdict(leg, { subtype: "error_timeout", text: end.text ?? "", message, ms, ...spent });
  }

  private async _writeVerdict(leg: Leg, verdict: Verdict): Promise<void> {
    const { subtype, text, message, usage = {}, costUsd, turns, ms, structured } = verdict;
    await this._writer.write(
      [
        resultItem({
          subtype,
          isError: subtype !== "success" && subtype !== "handoff",
          text,
          ...(message !== undefined && { message }),
          usage,
          ...(structured !== undefined && { structured }),
          ...(costUsd !== undefined && { costUsd }),
          ...(turns !== undefined && { turns }),
          ...(ms !== undefined && { ms }),
        }),
      ],
      leg.agent,
    );
  }

  private async _end(policy: RunPolicy, end: LegEnd): Promise<void> {
    // The end of an agent within a tool call is not the end of the run.
    if (this._plan.outer !== undefined) return;
    const status: RunStatus = this._isAborted()
      ? "aborted"
      : end.kind === "judged" || (end.kind === "verdict" && end.subtype === "success")
        ? "success"
        : "error";
    await policy.noteEnd(status, end.kind === "verdict" ? end.text : "");
  }

  /** A callback that a rule leaves nothing to decide is most likely a mistake (AT-10). */
  private async _warnOfShadowed(leg: Leg): Promise<void> {
    if (leg.policy === undefined) return;
    const warnings = [
      ...findShadowed(leg.policy, leg.tools),
      ...findNeverMatching(leg.policy.rules, this._toolNames()),
    ];
    if (warnings.length > 0) await this._writer.write(warnings.map(warningItem), leg.agent);
  }

  /** Once per leg, however often it is handed to. What a model itself is told of, the turn warns of. */
  private async _warnOfIgnored(leg: Leg): Promise<void> {
    if (leg.ignored === undefined || leg.ignored.length === 0 || this._warned.has(leg)) return;
    this._warned.add(leg);
    const { name } = leg.backend;
    const byTurn: readonly string[] = leg.backend.kind === "model" ? (leg.backend.ignores ?? []) : [];
    const warnings = leg.ignored
      .filter(({ option }) => !byTurn.includes(option))
      .map(({ option, reason }) =>
        warningItem({
          code: "option-ignored",
          message: `${option} is ignored on ${name}: ${reason}.`,
          context: { option, backend: name },
        }),
      );
    if (warnings.length > 0) await this._writer.write(warnings, leg.agent);
  }

  /** The tools of all agents of the run; `undefined` when one of them brings its own. */
  private _toolNames(): readonly string[] | undefined {
    const { legs } = this._plan;
    if (legs.some(({ backend }) => backend.kind === "agent")) return undefined;
    return [
      ...new Set(
        legs.flatMap(({ tools, handoffs }) => [
          ...tools.map(({ name }) => name),
          ...(handoffs === undefined ? [] : [HANDOFF_TOOL]),
        ]),
      ),
    ];
  }

  private async _block(leg: Leg, reason: string, by: "hook" | "guard"): Promise<void> {
    const code = by === "guard" ? "guard-denied" : "prompt-blocked";
    const message = `The prompt was not passed on: ${reason}`;
    await this._writer.write([errorItem({ code, message, terminal: true })], leg.agent);
  }

  private _messagesAfter(end: Extract<LegEnd, { kind: "handoff" }>, notes: readonly string[]): readonly Message[] {
    const id = this._ids.fresh("handoff");
    const texts = [end.message, ...notes];
    const blocks = texts.map((text) => ({ type: "text", text }) as const);
    const message: Message = { id, role: "user", blocks, source: "millrace" };
    return this._plan.handoffContext === "shared" ? [...end.transcript, message] : [message];
  }

  /** The run itself was aborted; a limit of time is not an abort. */
  private _isAborted(): boolean {
    return this._writer.latch.aborted && !this._isExpired;
  }

  private _legOf(name: string | undefined): Leg {
    const leg = this._plan.legs.find((candidate) => candidate.agent === name);
    if (leg === undefined) throw new StartError("unknown-agent", `There is no agent "${name ?? ""}" in this run.`);
    return leg;
  }

  /** What an agent may not do, nobody may do whom it hands over to: otherwise a handoff would be a way around. */
  private _inherit(leg: Leg): void {
    const rules = leg.policy?.rules ?? [];
    const before = this._inherited === undefined ? [] : [this._inherited];
    const deny = [...new Set([...before, ...rules].flatMap((set) => set.deny ?? []))];
    const otherwise = strictest([...before, ...rules].map(otherwiseOf));
    if (deny.length === 0 && otherwise === "allow") return;
    this._inherited = otherwise === "allow" ? { deny } : { deny, otherwise };
  }

  /** Relative rules start where the agent works. */
  private _pathsFor({ place, backend }: Leg): PathLookup | undefined {
    const { paths } = this._plan;
    const cwd = place?.cwd ?? (backend.kind === "agent" ? backend.cwd : undefined);
    return paths === undefined || cwd === undefined ? paths : { ...paths, cwd: inFolder(paths.cwd, cwd) };
  }

  private _policyFor(leg: Leg): RunPolicy {
    if (leg.policy === undefined && this._inherited === undefined) return NO_POLICY;
    const settings = leg.policy ?? NOBODY_WATCHES;
    const inherited = this._inherited === undefined ? [] : [this._inherited];
    return createPolicy(
      { ...settings, rules: [...inherited, ...settings.rules] },
      {
        runId: this._writer.runId,
        agent: leg.agent,
        context: this._plan.context,
        signal: this._writer.latch.signal,
        clock: this._plan.clock,
        write: (chunks) => void this._writer.write(chunks, leg.agent),
        ask: this._writer.ask,
        canAnswer: this._writer.canAnswer,
        paths: this._pathsFor(leg),
      },
    );
  }
}

function inFolder(folder: string, path: string): string {
  return /^(?:[A-Za-z]:)?[\\/]/.test(path) ? path : `${folder}/${path}`;
}

interface Verdict {
  readonly subtype: string;
  readonly text: string;
  readonly message?: string | undefined;
  readonly usage?: Parameters<typeof resultItem>[0]["usage"];
  readonly costUsd?: number | undefined;
  readonly turns?: number | undefined;
  readonly ms?: number | undefined;
  readonly structured?: unknown;
}

const NOTHING: HookEffects = { notes: [], stop: undefined };

/** The policy of a leg nobody watches: everything passes, and nothing is counted or copied. */
const NO_POLICY: RunPolicy = {
  isSilentOnTools: true,
  isSilentOnOutput: true,
  checkPrompt: async (messages) => ({ kind: "go", messages, ...NOTHING }),
  checkCall: async ({ input }) => ({ kind: "run", input, grant: { redeem: () => true }, ...NOTHING }),
  checkResult: async (_, { output, isError }) => ({ output, isError, ...NOTHING }),
  checkHandoff: async ({ message }) => ({ kind: "go", message, ...NOTHING }),
  noteHandoff: async () => NOTHING,
  checkStop: async () => ({ kind: "stop", ...NOTHING }),
  noteEnd: async () => undefined,
  createOutputGate: () => ({ pass: async (chunks) => chunks, drop: () => undefined, denial: undefined }),
};
