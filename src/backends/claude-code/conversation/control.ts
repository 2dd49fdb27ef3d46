import { type McpServerStatus, type Message, RunError } from "#domain";
import { isRecord, type JsonRecord } from "#wire";
import type { AgentLink } from "../../backend.ts";
import type { ControlContext } from "../control/hooks.ts";
import { createOwnTool } from "../control/own-tools.ts";
import { hasFeature, requireFeature } from "../features.ts";
import { readServers } from "./answers.ts";
import { BaseConversation } from "./base.ts";
import { createBetweenTurns } from "./between-turns.ts";
import { ControlTurn } from "./control-turn.ts";
import { exitAfterResult } from "./exit.ts";
import { type LiveProcess, type ProcessEvent, startLive } from "./live-process.ts";
import type { ClaudeCodeConversation, ConversationPlan } from "./plan.ts";
import { ProcessSlot } from "./process-slot.ts";

/** Creates a conversation in control mode. Starts nothing. */
export function createControlConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new ControlConversation(plan);
}

/** One process for many turns. A process that is gone is replaced by one that resumes the session. */
class ControlConversation extends BaseConversation {
  private readonly _context: ControlContext;
  private readonly _held = createBetweenTurns();
  private readonly _slot = new ProcessSlot(() => this._start());
  private _turn: ControlTurn | undefined;
  private _lastCallId = 0;

  constructor(plan: ConversationPlan) {
    super(plan);
    const { version } = plan.cli;
    this._context = {
      turn: () => (this._turn?.isFailed === false ? this._turn.decisions : undefined),
      ownTool: createOwnTool(plan.tools),
      replacesOutput: version === undefined || hasFeature(version, "replace-tool-output"),
      newCallId: (name) => {
        this._lastCallId += 1;
        return `${name}-${this._lastCallId}`;
      },
    };
  }

  protected get _isBusy(): boolean {
    return this._turn !== undefined;
  }

  protected async _carryOut(messages: readonly Message[], link: AgentLink): Promise<void> {
    const parts = {
      plan: this._plan,
      session: this._session,
      slot: this._slot,
      held: this._held,
      ownTool: this._context.ownTool,
      interrupt: () => this.interrupt(),
    };
    const turn = new ControlTurn(parts, link);
    this._turn = turn;
    try {
      await turn.carryOut(messages);
    } finally {
      this._turn = undefined;
      await turn.leave();
    }
  }

  async warmUp(): Promise<boolean> {
    const live = await this._reach();
    live.write("");
    return true;
  }

  async interrupt(): Promise<void> {
    if (this._turn !== undefined) await this._slot.live?.request({ subtype: "interrupt" });
  }

  async mcpStatus(): Promise<readonly McpServerStatus[]> {
    requireFeature(this._plan.cli.version, "mcp-status");
    const live = await this._reach();
    const { mcpServers } = await live.request({ subtype: "mcp_status" });
    return live.process.cover(readServers(mcpServers));
  }

  async close(): Promise<void> {
    this._isClosed = true;
    // The run took over the process.
    if (this._slot.isKept) return;
    const turn = this._turn;
    turn?.fail({ code: "aborted", message: "The conversation was closed.", terminal: true });
    const tasks = this._slot.live?.tasks;
    const isBusy = tasks !== undefined && tasks.count + tasks.shells.length > 0;
    // A CLI with background work does not exit when its input ends.
    await this._slot.dropAll({ immediate: turn !== undefined || isBusy });
  }

  protected async _request(request: JsonRecord): Promise<void> {
    this._requireOpen();
    await this._slot.live?.request(request);
  }

  private _start(): Promise<LiveProcess> {
    const options = this._session.startOptions();
    const { features } = this._session;
    const take = (live: LiveProcess, event: ProcessEvent) => this._take(live, event);
    return startLive({ plan: this._plan, options, features, context: this._context, take });
  }

  /** Handles what happens in the process in use. */
  private _take(live: LiveProcess, event: ProcessEvent): Promise<void> | undefined {
    const turn = this._turn;
    switch (event.kind) {
      case "output":
        return turn === undefined ? this._hold(live, event) : turn.take(live, event.chunks);
      case "busy":
        return turn?.noteBusy(event.isBusy);
      case "refused":
        this._slot.drop({ immediate: true });
        return turn?.fail(event.error);
      case "exit":
        this._slot.noteShellsOver();
        return turn?.hasProcess === true ? turn.noteExit(live, event) : this._noteLateExit(event);
      default:
        return undefined;
    }
  }

  /** Keeps output between turns for the next one, and tracks what is still running. */
  private _hold(live: LiveProcess, { chunks }: Extract<ProcessEvent, { kind: "output" }>): undefined {
    this._held.add(chunks);
    for (const chunk of chunks) {
      if (chunk.type === "notice" && chunk.kind === "task" && isRecord(chunk.data)) live.tasks.note(chunk.data);
    }
    if (live.tasks.shells.length === 0) this._slot.noteShellsOver();
  }

  /**
   * An exit between two turns, or while a file of the next one is checked. The next turn reports it as a warning: it
   * gets another process, so it is no error there.
   */
  private _noteLateExit({ exit, error }: Extract<ProcessEvent, { kind: "exit" }>): undefined {
    const late = exitAfterResult(exit, error, { isError: false, strict: false });
    if (late !== undefined && this._session.isKnown) this._held.add([late]);
  }

  /** The running process, or a new one. */
  private async _reach(): Promise<LiveProcess> {
    this._requireOpen();
    return this._slot.ensure();
  }

  private _requireOpen(): void {
    if (this._isClosed) throw new RunError("control-failed", "The conversation is closed. Open another one.");
  }
}
