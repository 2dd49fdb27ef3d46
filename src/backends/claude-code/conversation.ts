import {
  type Chunk,
  type ErrorDetail,
  errorItem,
  type Message,
  noticeItem,
  type ProcessExit,
  RunError,
  warningItem,
} from "#domain";
import { followSignal } from "#streams";
import type { JsonRecord } from "#wire";
import type { AgentConversation, AgentLink } from "../backend.ts";
import { watchesTools } from "./control/initialize.ts";
import { createOwnTool } from "./control/own-tools.ts";
import { exitError, refusedError, stalledError, withoutEndFaults } from "./conversation-exit.ts";
import { createHeldChunks } from "./conversation-held.ts";
import { renderInput, userLine } from "./conversation-input.ts";
import { type Live, requestOf, startLive } from "./conversation-live.ts";
import { type ConversationPlan, goesOn, resuming, SILENCE, startFailure } from "./conversation-plan.ts";
import { type SilenceWatch, watchSilence } from "./conversation-silence.ts";
import { ActiveTurn } from "./conversation-turn.ts";
import { requireFeature } from "./features.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";

/** How long a further turn may take to begin once background work has ended. */
const NEXT_TURN_MS = 1000;

/** Creates a conversation in control mode. Starts nothing. */
export function createControlConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new ControlConversation(plan);
}

/** What a conversation with Claude Code can do beyond what every agent can. */
export interface ClaudeCodeConversation extends AgentConversation {
  /** The agent that answers from the next turn on: one of the `agents`, or of the CLI's own. */
  setAgent(name: string): Promise<void>;
  /** The CLI's tool servers, as it tells them. */
  mcpStatus(): Promise<readonly unknown[]>;
  /** Starts what the first turn needs. Rejects with `StartError`. */
  warmUp(): Promise<void>;
}

/** One process for many turns. A process that is gone is replaced by one that resumes the session. */
class ControlConversation implements ClaudeCodeConversation {
  private readonly _plan: ConversationPlan;
  private readonly _ownTool: (vendorName: string) => string | undefined;
  private readonly _held = createHeldChunks();
  private _options: ClaudeCodeOptions;
  private _features: readonly string[];
  private _live: Live | undefined;
  private _starting: Promise<Live> | undefined;
  private _active: ActiveTurn | undefined;
  private _silence: SilenceWatch | undefined;
  private _stopNextTurnClock: () => void = () => undefined;
  /** Writes our message, as soon as the CLI is free. */
  private _question: (() => void) | undefined;
  private _sessionId: string | undefined;
  /** The CLI remembers what was said so far. */
  private _isKnown: boolean;
  private _isWarned = false;
  private _isClosed = false;
  private _lastCallId = 0;
  /** Processes that are on their way out. */
  private readonly _leaving = new Set<Promise<void>>();

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._options = plan.options;
    this._features = plan.features;
    this._ownTool = createOwnTool(plan.tools);
    this._isKnown = goesOn(plan.options);
  }

  get sessionId(): string | undefined {
    return this._sessionId;
  }

  async warmUp(): Promise<void> {
    const live = await this._ensureLive();
    live.connection.write("");
  }

  async send(messages: readonly Message[], link: AgentLink): Promise<void> {
    if (link.signal.aborted) return;
    const refusal = this._refusal();
    if (refusal !== undefined) {
      await link.write([errorItem({ code: "control-failed", message: refusal, terminal: true })]);
      return;
    }
    const active = this._begin(link);
    const unfollow = followSignal(link.signal, () => {
      active.isFailed = true;
      active.end();
    });
    try {
      await this._warn(link);
      const live = await this._prepare(link);
      if (!active.isFailed) {
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
    const live = this._live;
    if (this._active === undefined || live === undefined || live.connection.isOver) return;
    await live.connection.channel.request({ subtype: "interrupt" });
  }

  async setModel(model: string): Promise<void> {
    checkClaudeCodeOptions({ model });
    requireFeature(this._plan.cli.version, "set-model");
    await this._request({ subtype: "set_model", model });
    this._options = { ...this._options, model };
  }

  async setPermissionMode(mode: string): Promise<void> {
    const checked = checkClaudeCodeOptions({ permissionMode: mode });
    requireFeature(this._plan.cli.version, "set-permission-mode");
    await this._request({ subtype: "set_permission_mode", mode });
    this._options = { ...this._options, ...checked };
  }

  async setAgent(name: string): Promise<void> {
    checkClaudeCodeOptions({ agent: name });
    await this._request({ subtype: "apply_flag_settings", settings: { agent: name } });
    this._options = { ...this._options, agent: name };
  }

  async mcpStatus(): Promise<readonly unknown[]> {
    requireFeature(this._plan.cli.version, "mcp-status");
    const { mcpServers } = await requestOf(await this._ensureLive(), { subtype: "mcp_status" });
    return Array.isArray(mcpServers) ? mcpServers : [];
  }

  async close(): Promise<void> {
    this._isClosed = true;
    const active = this._active;
    if (active !== undefined && !active.isFailed) {
      this._fail(active, { code: "aborted", message: "The conversation was closed.", terminal: true });
    }
    await this._starting?.catch(() => undefined);
    this._drop(active !== undefined);
    await Promise.all(this._leaving);
  }

  private _refusal(): string | undefined {
    if (this._isClosed) return "The conversation is closed. Open another one.";
    return this._active === undefined ? undefined : "A turn is under way. Send the next message when it is over.";
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
          this._forget();
          this._fail(active, error);
        },
      },
      {
        uuid: this._plan.world.random.id(),
        toolName: (name) => this._ownTool(name) ?? name,
        ...(this._live !== undefined && { tasks: this._live.tasks, openTurns: this._live.openTurns }),
      },
    );
    this._active = active;
    this._silence = watchSilence({
      clock: this._plan.world.clock,
      noticeMs: Math.min(SILENCE.noticeMs, this._plan.idleMs),
      limitMs: this._plan.idleMs,
      onNotice: (silentMs) => {
        link.write([noticeItem("stall", { silentMs })])?.catch(() => undefined);
      },
      onExpire: (silentMs) => this._giveUpWaiting(active, silentMs),
    });
    return active;
  }

  private async _warn(link: AgentLink): Promise<void> {
    if (this._isWarned) return;
    this._isWarned = true;
    if (this._plan.warnings.length > 0) await link.write(this._plan.warnings.map(warningItem));
  }

  /** A process that fits the turn. */
  private async _prepare(link: AgentLink): Promise<Live> {
    if (!link.policy.isSilentOnTools && !watchesTools(this._features)) {
      // The process was started without hooks, and tools must not run unwatched.
      this._features = [...this._features, "hooks"];
      this._drop(false);
    }
    return this._ensureLive();
  }

  private _ensureLive(): Promise<Live> {
    if (this._live?.connection.isOver === true) this._drop(true);
    if (this._live !== undefined) return Promise.resolve(this._live);
    this._starting ??= this._start().finally(() => {
      this._starting = undefined;
    });
    return this._starting;
  }

  private async _start(): Promise<Live> {
    const isResumable = this._isKnown && this._sessionId !== undefined;
    this._live = await startLive({
      plan: this._plan,
      options: isResumable ? resuming(this._options, this._sessionId as string) : this._options,
      features: this._features,
      desk: {
        turn: () => (this._active?.isFailed === false ? this._active.turn : undefined),
        ownTool: this._ownTool,
        newCallId: (name) => {
          this._lastCallId += 1;
          return `${name}-${this._lastCallId}`;
        },
      },
      take: (live, chunks) => this._take(live, chunks),
      onBusy: (isBusy) => (isBusy ? this._silence?.pause() : this._silence?.resume()),
      onExit: (live, exit, rest) => this._noteExit(live, exit, rest),
      onRefusal: (live, thrown) => this._noteRefusal(live, thrown),
    });
    return this._live;
  }

  private _ask(live: Live, active: ActiveTurn, messages: readonly Message[]): void {
    this._question = () => {
      this._question = undefined;
      active.awaitResult();
      live.connection.write(userLine(renderInput(messages, this._isKnown), active.uuid));
    };
    const late = this._held.take();
    if (late.length > 0) this._give(active, late)?.catch(() => undefined);
    // While the CLI works on a turn of its own, it would fold our message into it and give one result for both.
    if (active.openTurns === 0) this._question?.();
  }

  /** What the process wrote. Between turns it is held for the next one. */
  private _take(live: Live, chunks: Chunk[]): Promise<void> | undefined {
    const active = this._active;
    if (live !== this._live || active?.isFailed === true) return undefined;
    if (active === undefined) {
      this._held.add(chunks);
      return undefined;
    }
    this._silence?.alive();
    return this._give(active, chunks);
  }

  private _give(active: ActiveTurn, chunks: Chunk[]): Promise<void> | undefined {
    active.look(chunks);
    this._sessionId = active.sessionId ?? this._sessionId;
    const room = active.turn.link.write(chunks);
    this._stopNextTurnClock();
    if (active.isFailed) active.end();
    else if (this._question !== undefined) {
      if (active.openTurns === 0) this._question();
    } else if (active.isSettled && !active.isWaitingForTasks) {
      if (active.hadTasks) {
        this._stopNextTurnClock = this._plan.world.clock.after(NEXT_TURN_MS, () => active.end());
      } else active.end();
    }
    return room;
  }

  private _noteExit(live: Live, exit: ProcessExit, rest: readonly Chunk[]): void {
    const active = this._active;
    if (live !== this._live || active === undefined || active.isFailed) return;
    this._give(active, withoutEndFaults(rest, exit))?.catch(() => undefined);
    // The result holds, whatever the exit says (S1-11).
    if (!active.hasResult) {
      const error = exitError(exit, {
        stderrTail: live.process.stderr.text(),
        stdoutWasEmpty: !live.hasOutput,
        lastNonJsonLine: live.connection.lastNonJsonLine,
      });
      this._fail(active, error);
    }
    active.end();
  }

  /** `initialize` came to nothing: hooks may not be in place, so nothing may run. */
  private _noteRefusal(live: Live, thrown: unknown): void {
    if (live !== this._live || live.connection.isOver) return;
    const active = this._active;
    this._drop(true);
    if (active === undefined || active.isFailed) return;
    this._fail(active, refusedError(thrown, live.process.stderr.text()));
  }

  private _giveUpWaiting(active: ActiveTurn, silentMs: number): void {
    if (active.hasResult) {
      // Background work that says nothing: the turn has its result, and that holds.
      active.end();
      return;
    }
    this._fail(active, stalledError(silentMs));
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
    this._stopNextTurnClock();
    this._question = undefined;
    this._active = undefined;
    if (this._live !== undefined) this._live.openTurns = active.openTurns;
    if (!active.isFailed) {
      this._isKnown = true;
      return;
    }
    await this._starting?.catch(() => undefined);
    this._drop(true);
    await Promise.all(this._leaving);
  }

  private _drop(immediate: boolean): void {
    const live = this._live;
    this._live = undefined;
    if (live === undefined) return;
    const leaving = live.connection.stop({ immediate });
    this._leaving.add(leaving);
    leaving.finally(() => this._leaving.delete(leaving)).catch(() => undefined);
  }

  private _forget(): void {
    this._sessionId = undefined;
    this._isKnown = false;
  }

  /** Asks the running process; without one the new value is for the next to be started with. */
  private async _request(request: JsonRecord): Promise<void> {
    if (this._isClosed) throw new RunError("control-failed", "The conversation is closed. Open another one.");
    const live = this._live;
    if (live === undefined || live.connection.isOver) return;
    await requestOf(live, request);
  }
}
