import {
  type Chunk,
  type ErrorDetail,
  errorItem,
  type Message,
  type ProcessExit,
  RunError,
  startFailure,
  warningItem,
} from "#domain";
import { followSignal, type SilenceWatch } from "#streams";
import type { JsonRecord } from "#wire";
import type { AgentLink } from "../backend.ts";
import { judgeAttachments } from "./attachments.ts";
import { createOwnTool } from "./control/own-tools.ts";
import type { ClaudeCodeConversation } from "./conversation-contract.ts";
import { exitError, refusedError, stalledError, withoutEndFaults } from "./conversation-exit.ts";
import { createHeldChunks } from "./conversation-held.ts";
import { renderInput, userLine } from "./conversation-input.ts";
import { ProcessKeeper } from "./conversation-keeper.ts";
import { type Live, requestOf, startLive } from "./conversation-live.ts";
import { CHANGES, ConversationMemory } from "./conversation-memory.ts";
import { type ConversationPlan, refuseTurn } from "./conversation-plan.ts";
import { watchTurn } from "./conversation-silence.ts";
import { ActiveTurn } from "./conversation-turn.ts";
import { hasFeature, requireFeature } from "./features.ts";

/** How long a further turn may take to begin once background work has ended. */
const NEXT_TURN_MS = 1000;

/** Creates a conversation in control mode. Starts nothing. */
export function createControlConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new ControlConversation(plan);
}

/** One process for many turns. A process that is gone is replaced by one that resumes the session. */
class ControlConversation implements ClaudeCodeConversation {
  private readonly _plan: ConversationPlan;
  private readonly _ownTool: (vendorName: string) => string | undefined;
  private readonly _held = createHeldChunks();
  private readonly _keeper = new ProcessKeeper((onLive) => this._start(onLive));
  private readonly _memory: ConversationMemory;
  private _active: ActiveTurn | undefined;
  private _silence: SilenceWatch | undefined;
  private _stopNextTurnClock: () => void = () => undefined;
  /** Writes our message, as soon as the CLI is free. */
  private _question: (() => void) | undefined;
  private _isWarned = false;
  private _isClosed = false;
  private _lastCallId = 0;

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._memory = new ConversationMemory(plan);
    this._ownTool = createOwnTool(plan.tools);
  }

  get sessionId(): string | undefined {
    return this._memory.sessionId;
  }

  async warmUp(): Promise<void> {
    const live = await this._keeper.ensure();
    live.connection.write("");
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
      const input = renderInput(messages, this._memory.isKnown, this._plan.options);
      // Whoever is asked about a file may take his time.
      this._silence?.pause();
      const refusal = await judgeAttachments(input.text, this._plan, link);
      this._silence?.resume();
      if (refusal !== undefined) this._fail(active, refusal);
      const live = active.isFailed ? undefined : await this._prepare(link);
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
    const { live } = this._keeper;
    if (this._active === undefined || live === undefined) return;
    await live.connection.channel.request({ subtype: "interrupt" });
  }

  setModel(model: string): Promise<void> {
    return this._memory.change(CHANGES.model(model), (request) => this._request(request));
  }

  setPermissionMode(mode: string): Promise<void> {
    return this._memory.change(CHANGES.permissionMode(mode), (request) => this._request(request));
  }

  setAgent(name: string): Promise<void> {
    return this._memory.change(CHANGES.agent(name), (request) => this._request(request));
  }

  async mcpStatus(): Promise<readonly unknown[]> {
    requireFeature(this._plan.cli.version, "mcp-status");
    const { mcpServers } = await requestOf(await this._keeper.ensure(), { subtype: "mcp_status" });
    return Array.isArray(mcpServers) ? mcpServers : [];
  }

  async close(): Promise<void> {
    this._isClosed = true;
    const active = this._active;
    if (active !== undefined && !active.isFailed) {
      this._fail(active, { code: "aborted", message: "The conversation was closed.", terminal: true });
    }
    await this._keeper.dropAll({ immediate: active !== undefined });
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
          this._memory.forget();
          this._fail(active, error);
        },
      },
      {
        uuid: this._plan.world.random.id(),
        toolName: (name) => this._ownTool(name) ?? name,
      },
    );
    this._active = active;
    this._silence = watchTurn(this._plan, link, (silentMs) => this._giveUpWaiting(active, silentMs));
    return active;
  }

  private async _warn(link: AgentLink): Promise<void> {
    if (this._isWarned) return;
    this._isWarned = true;
    if (this._plan.warnings.length > 0) await link.write(this._plan.warnings.map(warningItem));
  }

  /** A process that fits the turn. */
  private async _prepare(link: AgentLink): Promise<Live> {
    // A process that was started without hooks would run tools unwatched.
    if (!link.policy.isSilentOnTools && this._memory.watchTools()) await this._keeper.dropAll({ immediate: false });
    return this._keeper.ensure();
  }

  private _start(onLive: (live: Live) => void): Promise<Live> {
    const { version } = this._plan.cli;
    return startLive({
      plan: this._plan,
      options: this._memory.startOptions(),
      features: this._memory.features,
      desk: {
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
      active.awaitResult();
      live.connection.write(userLine(renderInput(messages, this._memory.isKnown, this._plan.options), active.uuid));
    };
    active.adopt(live);
    const late = this._held.take();
    if (late.length > 0) this._give(active, late)?.catch(() => undefined);
    // While the CLI works on a turn of its own, it would fold our message into it and give one result for both.
    if (active.openTurns === 0) this._question?.();
  }

  /** What the process wrote. Between turns it is held for the next one. */
  private _take(live: Live, chunks: Chunk[]): Promise<void> | undefined {
    const active = this._active;
    if (!this._keeper.isCurrent(live) || active?.isFailed === true) return undefined;
    if (active === undefined) {
      this._held.add(chunks);
      return undefined;
    }
    this._silence?.alive();
    return this._give(active, chunks);
  }

  private _give(active: ActiveTurn, chunks: Chunk[]): Promise<void> | undefined {
    active.look(chunks);
    this._memory.sessionId = active.sessionId ?? this._memory.sessionId;
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
    if (!this._keeper.isCurrent(live) || active === undefined || active.isFailed) return;
    this._give(active, withoutEndFaults(rest, exit))?.catch(() => undefined);
    // The result holds, whatever the exit says (S1-11).
    if (!active.hasResult) {
      const error = exitError(
        exit,
        live.process.cover({
          stderrTail: live.process.stderr.text(),
          stdoutWasEmpty: !live.hasOutput,
          lastNonJsonLine: live.connection.lastNonJsonLine,
        }),
      );
      this._fail(active, error);
    }
    active.end();
  }

  /** `initialize` came to nothing: hooks may not be in place, so nothing may run. */
  private _noteRefusal(live: Live, thrown: unknown): void {
    if (!this._keeper.isCurrent(live) || live.connection.isOver) return;
    const active = this._active;
    this._keeper.drop({ immediate: true });
    if (active === undefined || active.isFailed) return;
    this._fail(active, live.process.cover(refusedError(thrown, live.process.stderr.text())));
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
    const { live } = this._keeper;
    if (live !== undefined) live.openTurns = active.openTurns;
    if (active.isFailed) await this._keeper.dropAll({ immediate: true });
    else this._memory.noteTurn();
  }

  /** Asks the running process; without one the new value is for the next to be started with. */
  private async _request(request: JsonRecord): Promise<void> {
    if (this._isClosed) throw new RunError("control-failed", "The conversation is closed. Open another one.");
    const { live } = this._keeper;
    if (live === undefined) return;
    await requestOf(live, request);
  }
}
