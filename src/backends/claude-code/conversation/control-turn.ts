import { type Chunk, type ErrorDetail, errorItem, type Message, startFailure, warningItem } from "#domain";
import { createDeferred, followSignal, type SilenceWatch } from "#streams";
import type { AgentLink } from "../../backend.ts";
import { judgeAttachments } from "../attachments.ts";
import { CallDecisions } from "../control/call-decisions.ts";
import type { ControlContext } from "../control/hooks.ts";
import { hasFeature } from "../features.ts";
import { DRAIN, NEXT_TURN_MS, RESULT_GRACE_MS, type RuleInput } from "../result-rule.ts";
import type { BetweenTurns } from "./between-turns.ts";
import { backgroundNotice, backgroundWarning, inputWarning, stalledError } from "./exit.ts";
import { type CliInput, renderInput, toTell, userLine } from "./input.ts";
import type { LiveProcess, ProcessEvent } from "./live-process.ts";
import type { ConversationPlan } from "./plan.ts";
import type { ProcessSlot } from "./process-slot.ts";
import type { SessionState } from "./session-state.ts";
import { watchTurn } from "./silence.ts";
import { TurnOutput } from "./turn-output.ts";

/** The parts of a conversation that its turns use. */
interface TurnParts {
  readonly plan: ConversationPlan;
  readonly session: SessionState;
  readonly slot: ProcessSlot;
  /** The output since the last turn. */
  readonly held: BetweenTurns;
  readonly ownTool: ControlContext["ownTool"];
  /** Ends the turn that is under way then. */
  readonly interrupt: () => Promise<void>;
}

/** One turn in control mode, from its messages to its end. The process is there before it, and may stay after it. */
export class ControlTurn {
  /** What was decided about the calls of this turn. */
  readonly decisions: CallDecisions;
  private readonly _parts: TurnParts;
  private readonly _link: AgentLink;
  private readonly _output: TurnOutput;
  /** The id of our message. */
  private readonly _uuid: string;
  private readonly _silence: SilenceWatch;
  private readonly _ended = createDeferred<void>();
  private _isFailed = false;
  private _hasProcess = false;
  /** Ends the turn after its verdict, when the time for the exit or a further turn is over. */
  private _stopEndClock: (() => void) | undefined;
  /** Writes our message, as soon as the CLI is idle. */
  private _question: (() => void) | undefined;

  constructor(parts: TurnParts, link: AgentLink) {
    const { plan, session, ownTool } = parts;
    this._parts = parts;
    this._link = link;
    this._uuid = plan.world.random.id();
    this.decisions = new CallDecisions(link, {
      interrupt: () => {
        parts.interrupt().catch(() => undefined);
      },
      giveUp: (error) => {
        // The session's history contains what must not reach the model, too.
        session.forget();
        this.fail(error);
      },
    });
    this._output = new TurnOutput({ decisions: this.decisions, uuid: this._uuid, ownTool, options: plan.options });
    this._silence = watchTurn(plan, link, (silentMs) => this._giveUpWaiting(silentMs));
  }

  /** A terminal error was written, or the caller has aborted: nothing more is written. */
  get isFailed(): boolean {
    return this._isFailed;
  }

  /** A process carries the turn. Before that, the end of a process does not belong to it. */
  get hasProcess(): boolean {
    return this._hasProcess;
  }

  /** Resolves when the turn is over. */
  async carryOut(messages: readonly Message[]): Promise<void> {
    const { session } = this._parts;
    const unfollow = followSignal(this._link.signal, () => {
      this._isFailed = true;
      this._ended.resolve();
    });
    try {
      const words = session.takeFirstWords();
      if (words.length > 0) await this._link.write(words);
      const { isKnown } = session;
      await this._judge(messages);
      let live = this._isFailed ? undefined : await this._prepare();
      // A process without the session receives the whole conversation, including what was checked for the previous one.
      if (isKnown && !session.isKnown) {
        await this._judge(messages);
        if (!this._isFailed) live = await this._prepare();
      }
      if (live !== undefined && !this._isFailed) {
        this._ask(live, messages);
        await this._ended.promise;
      }
    } catch (thrown) {
      this._isFailed = true;
      if (!this._link.signal.aborted) await this._link.write([startFailure(thrown)]);
    } finally {
      unfollow();
      this._silence.stop();
      this._stopEndClock?.();
      this._question = undefined;
    }
  }

  /** Checks the files that the CLI would read for this turn. */
  private async _judge(messages: readonly Message[]): Promise<void> {
    const { text } = this._render(messages);
    // A person who is asked about a file may take long.
    this._silence.pause();
    const refusal = await judgeAttachments(text, this._parts.plan, this._link);
    this._silence.resume();
    if (refusal !== undefined) this.fail(refusal);
  }

  /** The input for the CLI, depending on what it remembers. */
  private _render(messages: readonly Message[]): CliInput {
    const { plan, session } = this._parts;
    return renderInput(toTell(messages, this._link, session.isKnown), session.isKnown, plan.options);
  }

  /** A process that fits the turn. */
  private async _prepare(): Promise<LiveProcess> {
    const { session, slot } = this._parts;
    // A process that was started without hooks would run tools unchecked.
    if (!this._link.policy.isSilentOnTools && session.watchTools()) await slot.dropAll({ immediate: false });
    if (!(await this._rewind())) await slot.dropAll({ immediate: true });
    return slot.ensure();
  }

  /** Makes the running process forget what is to be forgotten. `false`: another process must continue from before. */
  private async _rewind(): Promise<boolean> {
    const { plan, session, slot } = this._parts;
    const { toForget } = session;
    const { live } = slot;
    const { version } = plan.cli;
    if (toForget.length === 0 || live === undefined) return true;
    if (version === undefined || !hasFeature(version, "rewind-conversation")) return false;
    for (const id of toForget) {
      const request = { subtype: "rewind_conversation", target_message_uuid: id };
      const answer = await live.request(request).catch(() => undefined);
      if (answer?.["rewound"] !== true) return false;
    }
    session.noteForgotten();
    return true;
  }

  private _ask(live: LiveProcess, messages: readonly Message[]): void {
    this._question = () => {
      this._question = undefined;
      this._output.rule.note({ kind: "asked" });
      this._parts.session.noteSent(this._uuid);
      live.write(userLine(this._render(messages), this._uuid));
    };
    this._hasProcess = true;
    this._output.adopt(live);
    const late = this._parts.held.take();
    if (late.length > 0) this._give(live, late)?.catch(() => undefined);
    // While the CLI works on its own turn, it would merge our message into it and give one result for both.
    if (this._output.rule.state.open === 0) this._question?.();
  }

  /** Handles output of the process. */
  take(live: LiveProcess, chunks: readonly Chunk[]): Promise<void> | undefined {
    if (this._isFailed) return undefined;
    this._silence.alive();
    return this._give(live, chunks);
  }

  /** While we owe the CLI answers, its silence is our doing. */
  noteBusy(isBusy: boolean): undefined {
    if (isBusy) this._silence.pause();
    else this._silence.resume();
  }

  private _give(live: LiveProcess, chunks: readonly Chunk[]): Promise<void> | undefined {
    const { session } = this._parts;
    const passed = this._output.pass(chunks);
    if (this._output.hasFailed) this._isFailed = true;
    session.sessionId = this._output.sessionId ?? session.sessionId;
    if (this._output.hasStarted) session.noteStart();
    const warning = live.isOver ? undefined : inputWarning(live.process);
    if (warning !== undefined && passed.some(({ type }) => type === "result")) passed.push(warningItem(warning));
    const room = this._link.write(passed);
    const { rule } = this._output;
    if (this._isFailed || rule.isClosed) this._ended.resolve();
    else if (this._question === undefined) this._watchEnd();
    else if (rule.state.open === 0) this._question();
    return room;
  }

  /** After the verdict the turn ends soon, however much is still written; a further turn has its own time. */
  private _watchEnd(): void {
    const { isJudged, state } = this._output.rule;
    if (!isJudged) {
      this._stopEndClock?.();
      this._stopEndClock = undefined;
    } else if (this._stopEndClock === undefined) {
      if (state.hadTasks) this._endAfter(NEXT_TURN_MS, () => this._awaitExit(RESULT_GRACE_MS - NEXT_TURN_MS));
      else this._awaitExit(RESULT_GRACE_MS);
    }
  }

  /** Ends the turn. After the last one of a conversation the exit may still follow, and belongs to it. */
  private _awaitExit(graceMs: number): void {
    const { plan, slot } = this._parts;
    if (this._isLast) {
      // A further turn would need its hooks answered, so the input stays open while one may follow.
      if (this._output.tasks.shells.length === 0) slot.live?.endInput();
      this._endAfter(graceMs, () => this._ended.resolve());
    } else if (plan.options.strictExitStatus === true) {
      this._endAfter(DRAIN.silenceMs, () => this._ended.resolve());
    } else this._ended.resolve();
  }

  private _endAfter(ms: number, act: () => void): void {
    this._stopEndClock = this._parts.plan.world.clock.after(ms, act);
  }

  /** An answer that does not fit its schema is sent back; an unsaved session would not survive that. */
  private get _isLast(): boolean {
    const { persistSession, jsonSchema } = this._parts.plan.options;
    return this._link.isLast === true && !(persistSession === false && jsonSchema !== undefined);
  }

  noteExit(live: LiveProcess, { exit, error, rest }: Extract<ProcessEvent, { kind: "exit" }>): undefined {
    if (this._isFailed) return;
    this._give(live, rest)?.catch(() => undefined);
    if (this._output.rule.hasResult) this._note({ kind: "exit", code: exit.code, signal: exit.signal, error });
    else this.fail(error);
    this._ended.resolve();
  }

  /**
   * Something other than a chunk happened after a result: the result stays valid, unless the caller decided otherwise.
   */
  private _note(input: RuleInput): void {
    const told = this._output.rule.note(input);
    if (told.at(-1)?.type === "error") this._isFailed = true;
    if (told.length > 0) this._link.write(told)?.catch(() => undefined);
    this._ended.resolve();
  }

  private _giveUpWaiting(silentMs: number): void {
    const { rule, tasks } = this._output;
    // Silent background work: the turn has its result, which stays valid.
    if (rule.hasResult) {
      this._note({ kind: "stalled", warning: backgroundWarning(tasks.agents, { silentMs, kept: this._isKept }) });
    } else this.fail(stalledError(silentMs, this._parts.slot.live?.process.inputFailure));
  }

  fail(error: ErrorDetail): undefined {
    if (this._isFailed) return;
    this._isFailed = true;
    this._link.write([errorItem(error)])?.catch(() => undefined);
    this._ended.resolve();
  }

  /** Leaves the process after the turn. After a failure it is stopped: its further output belongs to no turn. */
  async leave(): Promise<void> {
    const { session, slot } = this._parts;
    const { live } = slot;
    if (live !== undefined) live.openTurns = this._output.rule.state.open;
    if (!this._isFailed) {
      session.noteTurn(live?.lastMessageId);
      if (live !== undefined && (await this._leaveShells())) return;
      if (!this._isLast) return;
    }
    const gone = slot.dropAll({ immediate: true });
    if (this._link.cleanUp === undefined) await gone;
    else this._link.cleanUp(gone);
  }

  /** Reports shells that were left running. `true`: they stay, and the process with them. */
  private async _leaveShells(): Promise<boolean> {
    const { shells } = this._output.tasks;
    if (shells.length === 0) return false;
    const isKept = this._isKept;
    await this._link.write([backgroundNotice(shells, isKept)]);
    if (isKept && this._isLast) {
      const gone = this._parts.slot.keepForShells(this._link.signal);
      this._link.cleanUp?.(gone, { maxMs: Number.POSITIVE_INFINITY });
    }
    return isKept;
  }

  /** The process stays after the turn: for the next one, or for shells that are kept. */
  private get _isKept(): boolean {
    const { shells } = this._output.tasks;
    return !this._isLast || (shells.length > 0 && this._parts.plan.options.keepBackground === true);
  }
}
