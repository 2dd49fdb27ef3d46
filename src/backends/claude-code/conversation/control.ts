import {
  type Chunk,
  type ErrorDetail,
  errorItem,
  type McpServerStatus,
  type Message,
  type ProcessExit,
  RunError,
  startFailure,
  warningItem,
} from "#domain";
import { createDeferred, followSignal, type SilenceWatch } from "#streams";
import { isRecord, type JsonRecord } from "#wire";
import type { AgentLink } from "../../backend.ts";
import { judgeAttachments } from "../attachments.ts";
import { createOwnTool } from "../control/own-tools.ts";
import {
  backgroundNotice,
  backgroundWarning,
  exitAfterResult,
  exitError,
  inputWarning,
  refusedError,
  stalledError,
  withoutEndFaults,
} from "./exit.ts";
import { createBetweenTurns } from "./between-turns.ts";
import { type CliInput, renderInput, toTell, userLine } from "./input.ts";
import { ProcessSlot } from "./process-slot.ts";
import { type Live, requestOf, startLive } from "./live-process.ts";
import { CHANGES, SessionState } from "./session-state.ts";
import { readServers, unknownAgent } from "./answers.ts";
import { type ClaudeCodeConversation, type ConversationPlan, firstWords, refuseTurn } from "./plan.ts";
import { watchTurn } from "./silence.ts";
import { ActiveTurn } from "./turn.ts";
import { hasFeature, requireFeature } from "../features.ts";
import { DRAIN, NEXT_TURN_MS, RESULT_GRACE_MS, type RuleInput } from "../result-rule.ts";

/** Creates a conversation in control mode. Starts nothing. */
export function createControlConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new ControlConversation(plan);
}

/** One process for many turns. A process that is gone is replaced by one that resumes the session. */
class ControlConversation implements ClaudeCodeConversation {
  private readonly _plan: ConversationPlan;
  private readonly _ownTool: (vendorName: string) => string | undefined;
  private readonly _held = createBetweenTurns();
  private readonly _slot = new ProcessSlot((onLive) => this._start(onLive));
  private readonly _session: SessionState;
  private _active: ActiveTurn | undefined;
  private _silence: SilenceWatch | undefined;
  /** Ends the turn after its verdict, when the exit or a further turn has had its time. */
  private _stopEndClock: (() => void) | undefined;
  /** Called when the last shell that was kept has ended. */
  private _onShellsOver: (() => void) | undefined;
  /** Writes our message, as soon as the CLI is free. */
  private _question: (() => void) | undefined;
  private _isWarned = false;
  private _isClosed = false;
  private _lastCallId = 0;

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._session = new SessionState(plan);
    this._ownTool = createOwnTool(plan.tools);
  }

  get sessionId(): string | undefined {
    return this._session.sessionId;
  }

  get point(): string | undefined {
    return this._session.point;
  }

  settle(isKept: boolean): void {
    this._session.settle(isKept);
  }

  async warmUp(): Promise<boolean> {
    const live = await this._reach();
    live.connection.write("");
    return true;
  }

  async send(messages: readonly Message[], link: AgentLink): Promise<void> {
    if (link.signal.aborted) return;
    const refusal = refuseTurn(this._isClosed, this._active !== undefined);
    if (refusal !== undefined) {
      await link.write([refusal]);
      return;
    }
    const active = this._begin(link);
    const unfollow = followSignal(link.signal, () => {
      active.isFailed = true;
      active.end();
    });
    try {
      await this._warn(link);
      const { isKnown } = this._session;
      await this._judge(messages, active);
      let live = active.isFailed ? undefined : await this._prepare(link);
      // A process that knows nothing is told everything, also what was judged for the one before.
      if (isKnown && !this._session.isKnown) {
        await this._judge(messages, active);
        if (!active.isFailed) live = await this._prepare(link);
      }
      if (live !== undefined && !active.isFailed) {
        this._ask(live, active, messages);
        await active.ended;
      }
    } catch (thrown) {
      active.isFailed = true;
      if (!link.signal.aborted) await link.write([startFailure(thrown)]);
    } finally {
      unfollow();
      await this._finish(active);
    }
  }

  async interrupt(): Promise<void> {
    const { live } = this._slot;
    if (this._active === undefined || live === undefined) return;
    await live.connection.channel.request({ subtype: "interrupt" });
  }

  setModel(model: string): Promise<void> {
    return this._session.change(CHANGES.model(model), (request) => this._request(request));
  }

  setPermissionMode(mode: string): Promise<void> {
    return this._session.change(CHANGES.permissionMode(mode), (request) => this._request(request));
  }

  async setAgent(name: string): Promise<void> {
    try {
      await this._session.change(CHANGES.agent(name), (request) => this._request(request));
    } catch (error) {
      throw unknownAgent(name, error);
    }
  }

  async mcpStatus(): Promise<readonly McpServerStatus[]> {
    requireFeature(this._plan.cli.version, "mcp-status");
    const live = await this._reach();
    const { mcpServers } = await requestOf(live, { subtype: "mcp_status" });
    return live.process.cover(readServers(mcpServers));
  }

  async close(): Promise<void> {
    this._isClosed = true;
    // The run has it: it ends with its shells, or by an abort.
    if (this._onShellsOver !== undefined) return;
    const active = this._active;
    if (active !== undefined && !active.isFailed) {
      this._fail(active, { code: "aborted", message: "The conversation was closed.", terminal: true });
    }
    const tasks = this._slot.live?.tasks;
    const isBusy = tasks !== undefined && tasks.count + tasks.shells.length > 0;
    // A CLI with background work does not go by itself when its input ends.
    await this._slot.dropAll({ immediate: active !== undefined || isBusy });
  }

  private _begin(link: AgentLink): ActiveTurn {
    const active: ActiveTurn = new ActiveTurn(
      link,
      {
        interrupt: () => {
          this.interrupt().catch(() => undefined);
        },
        giveUp: (error) => {
          // What must not come any further is in the session's history too.
          this._session.forget();
          this._fail(active, error);
        },
      },
      {
        uuid: this._plan.world.random.id(),
        toolName: (name) => this._ownTool(name) ?? name,
        strictExitStatus: this._plan.options.strictExitStatus,
      },
    );
    this._active = active;
    this._silence = watchTurn(this._plan, link, (silentMs) => this._giveUpWaiting(active, silentMs));
    return active;
  }

  /** Has the files judged that the CLI would read for this turn. */
  private async _judge(messages: readonly Message[], active: ActiveTurn): Promise<void> {
    const { text } = this._render(messages, active);
    // Whoever is asked about a file may take his time.
    this._silence?.pause();
    const refusal = await judgeAttachments(text, this._plan, active.turn.link);
    this._silence?.resume();
    if (refusal !== undefined) this._fail(active, refusal);
  }

  /** What the CLI is told, as far as it is known now what it remembers. */
  private _render(messages: readonly Message[], active: ActiveTurn): CliInput {
    const { isKnown } = this._session;
    return renderInput(toTell(messages, active.turn.link, isKnown), isKnown, this._plan.options);
  }

  private async _warn(link: AgentLink): Promise<void> {
    if (this._isWarned) return;
    this._isWarned = true;
    const words = firstWords(this._plan);
    if (words.length > 0) await link.write(words);
  }

  /** A process that fits the turn. */
  private async _prepare(link: AgentLink): Promise<Live> {
    // A process that was started without hooks would run tools unwatched.
    if (!link.policy.isSilentOnTools && this._session.watchTools()) await this._slot.dropAll({ immediate: false });
    if (!(await this._rewind())) await this._slot.dropAll({ immediate: true });
    return this._slot.ensure();
  }

  /** Has the process at work forget what is to be forgotten. `false`: another one has to go on where it was before. */
  private async _rewind(): Promise<boolean> {
    const { toForget } = this._session;
    const { live } = this._slot;
    const { version } = this._plan.cli;
    if (toForget.length === 0 || live === undefined) return true;
    if (version === undefined || !hasFeature(version, "rewind-conversation")) return false;
    for (const id of toForget) {
      const request = { subtype: "rewind_conversation", target_message_uuid: id };
      const answer = await requestOf(live, request).catch(() => undefined);
      if (answer?.["rewound"] !== true) return false;
    }
    this._session.noteForgotten();
    return true;
  }

  private _start(onLive: (live: Live) => void): Promise<Live> {
    const { version } = this._plan.cli;
    return startLive({
      plan: this._plan,
      options: this._session.startOptions(),
      features: this._session.features,
      context: {
        turn: () => (this._active?.isFailed === false ? this._active.turn : undefined),
        ownTool: this._ownTool,
        replacesOutput: version === undefined || hasFeature(version, "replace-tool-output"),
        newCallId: (name) => {
          this._lastCallId += 1;
          return `${name}-${this._lastCallId}`;
        },
      },
      onLive,
      take: (live, chunks) => this._take(live, chunks),
      onBusy: (isBusy) => (isBusy ? this._silence?.pause() : this._silence?.resume()),
      onExit: (live, exit, rest) => this._noteExit(live, exit, rest),
      onRefusal: (live, thrown) => this._noteRefusal(live, thrown),
    });
  }

  private _ask(live: Live, active: ActiveTurn, messages: readonly Message[]): void {
    this._question = () => {
      this._question = undefined;
      active.rule.note({ kind: "asked" });
      this._session.noteSent(active.uuid);
      live.connection.write(userLine(this._render(messages, active), active.uuid));
    };
    active.adopt(live);
    const late = this._held.take();
    if (late.length > 0) this._give(active, late)?.catch(() => undefined);
    // While the CLI works on a turn of its own, it would fold our message into it and give one result for both.
    if (active.rule.state.open === 0) this._question?.();
  }

  /** What the process wrote. Between turns it is held for the next one. */
  private _take(live: Live, chunks: Chunk[]): Promise<void> | undefined {
    const active = this._active;
    if (!this._slot.isCurrent(live) || active?.isFailed === true) return undefined;
    if (active === undefined) {
      this._hold(live, chunks);
      return undefined;
    }
    this._silence?.alive();
    return this._give(active, chunks);
  }

  /** Keeps what came between turns, and knows what still runs. */
  private _hold(live: Live, chunks: readonly Chunk[]): void {
    this._held.add(chunks);
    for (const chunk of chunks) {
      if (chunk.type === "notice" && chunk.kind === "task" && isRecord(chunk.data)) live.tasks.note(chunk.data);
    }
    if (live.tasks.shells.length === 0) this._onShellsOver?.();
  }

  private _give(active: ActiveTurn, chunks: readonly Chunk[]): Promise<void> | undefined {
    const passed = active.pass(chunks);
    this._session.sessionId = active.sessionId ?? this._session.sessionId;
    if (active.hasStarted) this._session.noteStart();
    const room = active.turn.link.write(this._withInputWarning(passed));
    if (active.isFailed || active.rule.isClosed) active.end();
    else if (this._question === undefined) this._watchEnd(active);
    else if (active.rule.state.open === 0) this._question();
    return room;
  }

  /** An answer to a part of the input says so. */
  private _withInputWarning(chunks: readonly Chunk[]): readonly Chunk[] {
    const { live } = this._slot;
    const warning = live === undefined ? undefined : inputWarning(live.process);
    if (warning === undefined || !chunks.some(({ type }) => type === "result")) return chunks;
    return [...chunks, warningItem(warning)];
  }

  /** From the verdict on time is short, however much is still written; a further turn takes its own time. */
  private _watchEnd(active: ActiveTurn): void {
    const { isJudged, state } = active.rule;
    if (!isJudged) {
      this._stopEndClock?.();
      this._stopEndClock = undefined;
    } else if (this._stopEndClock === undefined) {
      if (state.hadTasks) this._endAfter(NEXT_TURN_MS, () => this._awaitExit(active, RESULT_GRACE_MS - NEXT_TURN_MS));
      else this._awaitExit(active, RESULT_GRACE_MS);
    }
  }

  /** Ends the turn. After the last one of a conversation the exit may still come, and belongs to it. */
  private _awaitExit(active: ActiveTurn, graceMs: number): void {
    if (this._isLast(active.turn.link)) {
      // A further turn would need its hooks answered, so the input stays open while one may come.
      if (active.tasks.shells.length === 0) this._slot.live?.connection.endInput();
      this._endAfter(graceMs, () => active.end());
    } else if (this._plan.options.strictExitStatus === true) {
      this._endAfter(DRAIN.silenceMs, () => active.end());
    } else active.end();
  }

  /** An answer that does not fit its schema is sent back, which a session that is kept nowhere does not survive. */
  private _isLast({ isLast }: AgentLink): boolean {
    const { persistSession, jsonSchema } = this._plan.options;
    return isLast === true && !(persistSession === false && jsonSchema !== undefined);
  }

  private _endAfter(ms: number, act: () => void): void {
    this._stopEndClock = this._plan.world.clock.after(ms, act);
  }

  private _noteExit(live: Live, exit: ProcessExit | undefined, rest: readonly Chunk[]): void {
    if (!this._slot.isCurrent(live)) return;
    this._onShellsOver?.();
    const how = exit ?? { code: 0, signal: null };
    const traces = {
      stderrTail: live.process.stderr.text(),
      stdoutWasEmpty: !live.hasOutput,
      lastNonJsonLine: live.connection.lastNonJsonLine,
      outputFailure: live.process.outputFailure,
    };
    const error = exitError(how, live.process.cover(traces));
    const active = this._active;
    if (active?.isAdopted !== true) {
      // Between two turns, or while somebody decides about a file of the next one. That one says so: it gets another
      // process, so it is no error there.
      const late = exitAfterResult(how, error, { isError: false, strict: false });
      if (late !== undefined && this._session.isKnown) this._held.add([late]);
      return;
    }
    if (active.isFailed) return;
    this._give(active, withoutEndFaults(rest, how))?.catch(() => undefined);
    if (active.rule.hasResult) this._note(active, { kind: "exit", code: how.code, signal: how.signal, error });
    else this._fail(active, error);
    active.end();
  }

  /** Something that is no chunk has happened after a result: it holds, unless the caller wants it otherwise. */
  private _note(active: ActiveTurn, input: RuleInput): void {
    const told = active.rule.note(input);
    if (told.at(-1)?.type === "error") active.isFailed = true;
    if (told.length > 0) active.turn.link.write(told)?.catch(() => undefined);
    active.end();
  }

  /** `initialize` came to nothing: hooks may not be in place, so nothing may run. */
  private _noteRefusal(live: Live, thrown: unknown): void {
    if (!this._slot.isCurrent(live) || live.connection.isOver) return;
    const active = this._active;
    this._slot.drop({ immediate: true });
    if (active === undefined || active.isFailed) return;
    const { stderr, inputFailure, cover } = live.process;
    this._fail(active, cover(refusedError(thrown, stderr.text(), inputFailure)));
  }

  private _giveUpWaiting(active: ActiveTurn, silentMs: number): void {
    if (active.rule.hasResult) {
      // Background work that says nothing: the turn has its result, and that holds.
      const warning = backgroundWarning(active.tasks.agents, { silentMs, kept: this._isKept(active) });
      this._note(active, { kind: "stalled", warning });
      return;
    }
    this._fail(active, stalledError(silentMs, this._slot.live?.process.inputFailure));
  }

  private _fail(active: ActiveTurn, error: ErrorDetail): void {
    if (active.isFailed) return;
    active.isFailed = true;
    active.turn.link.write([errorItem(error)])?.catch(() => undefined);
    active.end();
  }

  /** The turn is over. After a failure the process goes too: what it still does is nobody's any more. */
  private async _finish(active: ActiveTurn): Promise<void> {
    this._silence?.stop();
    this._silence = undefined;
    this._stopEndClock?.();
    this._stopEndClock = undefined;
    this._question = undefined;
    this._active = undefined;
    const { live } = this._slot;
    if (live !== undefined) live.openTurns = active.rule.state.open;
    const { link } = active.turn;
    if (!active.isFailed) {
      this._session.noteTurn(live?.connection.lastMessageId);
      if (await this._leaveShells(active, live)) return;
      if (!this._isLast(link)) return;
    }
    const gone = this._slot.dropAll({ immediate: true });
    if (link.cleanUp === undefined) await gone;
    else link.cleanUp(gone);
  }

  /** Reports shells that were left running. `true`: they stay, and the process with them. */
  private async _leaveShells(active: ActiveTurn, live: Live | undefined): Promise<boolean> {
    const { turn, tasks } = active;
    const { link } = turn;
    if (live === undefined || tasks.shells.length === 0) return false;
    const isKept = this._isKept(active);
    await link.write([backgroundNotice(tasks.shells, isKept)]);
    if (isKept && this._isLast(link)) link.cleanUp?.(this._shellsGone(link), { maxMs: Number.POSITIVE_INFINITY });
    return isKept;
  }

  /** The process stays after the turn: for the next one, or for shells that are to be kept. */
  private _isKept({ turn, tasks }: ActiveTurn): boolean {
    return !this._isLast(turn.link) || (tasks.shells.length > 0 && this._plan.options.keepBackground === true);
  }

  /** Leaves the process alone until its shells have ended; the CLI would then begin a turn that nobody has asked for. */
  private async _shellsGone(link: AgentLink): Promise<void> {
    const over = createDeferred<void>();
    this._onShellsOver = over.resolve;
    const unfollow = followSignal(link.signal, () => over.resolve());
    await over.promise;
    unfollow();
    this._onShellsOver = undefined;
    await this._slot.dropAll({ immediate: true });
  }

  /** The process, started if there is none. */
  private async _reach(): Promise<Live> {
    this._requireOpen();
    return this._slot.ensure();
  }

  private _requireOpen(): void {
    if (this._isClosed) throw new RunError("control-failed", "The conversation is closed. Open another one.");
  }

  /** Asks the running process; without one the new value is for the next to be started with. */
  private async _request(request: JsonRecord): Promise<void> {
    this._requireOpen();
    const { live } = this._slot;
    if (live === undefined) return;
    await requestOf(live, request);
  }
}
