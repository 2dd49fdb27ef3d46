import { type McpServerStatus, type Message, StartError } from "#domain";
import type { AgentLink } from "../../backend.ts";
import { PlainTurn } from "./plain-turn.ts";
import { toTell } from "./input.ts";
import { CHANGES, SessionState } from "./session-state.ts";
import { type ClaudeCodeConversation, type ConversationPlan, firstWords, refuseTurn } from "./plan.ts";

/** Creates a conversation in plain mode: one process per turn, and each goes on with the session of the last. */
export function createPlainConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new PlainConversation(plan);
}

/** Why plain mode cannot say which tool servers there are. */
export const STATUS_NEEDS_CONTROL =
  'the tool servers are asked for over the control channel, and this is plain mode. Set claudeCode.mode to "control"';

/** A change is for the next process: the one at work cannot be told. */
const NOBODY = async (): Promise<void> => undefined;

class PlainConversation implements ClaudeCodeConversation {
  private readonly _plan: ConversationPlan;
  private readonly _session: SessionState;
  private _isWarned = false;
  private _isClosed = false;
  private _turn: PlainTurn | undefined;
  /** Processes of earlier turns that are not gone yet. */
  private readonly _leaving = new Set<PlainTurn>();

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._session = new SessionState(plan);
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

  async send(messages: readonly Message[], link: AgentLink): Promise<void> {
    if (link.signal.aborted) return;
    const refusal = refuseTurn(this._isClosed, this._turn !== undefined);
    if (refusal !== undefined) {
      await link.write([refusal]);
      return;
    }
    const earlier = this._earlierGone();
    const turn = new PlainTurn(this._plan, link);
    this._turn = turn;
    this._leaving.add(turn);
    turn.gone.then(() => this._leaving.delete(turn)).catch(() => undefined);
    try {
      const words = this._isWarned ? [] : firstWords(this._plan);
      if (words.length > 0) await link.write(words);
      this._isWarned = true;
      const options = this._session.startOptions();
      const { isKnown } = this._session;
      this._session.noteSent(link.runId);
      await turn.carryOut({ options, messages: toTell(messages, link, isKnown), isKnown, after: earlier });
    } finally {
      this._session.sessionId = turn.sessionId ?? this._session.sessionId;
      if (turn.hasStarted) this._session.noteStart();
      if (turn.hasResult) this._session.noteTurn(turn.lastMessageId);
      this._turn = undefined;
    }
  }

  /** A session goes on in another process when the one before has let go of it; one that was kept does not touch it. */
  private async _earlierGone(): Promise<void> {
    await Promise.all([...this._leaving].filter((turn) => !turn.isKept).map((turn) => turn.gone));
  }

  async interrupt(): Promise<void> {
    this._turn?.interrupt();
  }

  setModel(model: string): Promise<void> {
    return this._session.change(CHANGES.model(model), NOBODY);
  }

  setPermissionMode(mode: string): Promise<void> {
    return this._session.change(CHANGES.permissionMode(mode), NOBODY);
  }

  setAgent(name: string): Promise<void> {
    return this._session.change(CHANGES.agent(name), NOBODY);
  }

  async mcpStatus(): Promise<readonly McpServerStatus[]> {
    throw new StartError("feature-unavailable", `mcpStatus cannot be had on claude-code: ${STATUS_NEEDS_CONTROL}.`);
  }

  /** A process that has its prompt as its whole input cannot be started before there is one. */
  async warmUp(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this._isClosed = true;
    const turn = this._turn;
    await turn?.close();
    // A run of its own has handed over what it keeps; in a session that is for the session to end.
    await Promise.all([...this._leaving].filter((one) => !one.isHandedOver).map((one) => one.stopKept()));
  }
}
