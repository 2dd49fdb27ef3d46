import { type McpServerStatus, type Message, StartError } from "#domain";
import type { AgentLink } from "../../backend.ts";
import { PlainTurn } from "./plain-turn.ts";
import { toTell } from "./input.ts";
import { BaseConversation } from "./base.ts";
import type { ClaudeCodeConversation, ConversationPlan } from "./plan.ts";

/** Creates a conversation in plain mode: one process per turn, each of which continues the session of the last. */
export function createPlainConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new PlainConversation(plan);
}

/** Why plain mode cannot list the tool servers. */
export const STATUS_NEEDS_CONTROL =
  'the tool servers are asked for over the control channel, and this is plain mode. Set claudeCode.mode to "control"';

class PlainConversation extends BaseConversation {
  private _turn: PlainTurn | undefined;
  /** Processes of earlier turns that are not gone yet. */
  private readonly _leaving = new Set<PlainTurn>();

  protected get _isBusy(): boolean {
    return this._turn !== undefined;
  }

  protected async _carryOut(messages: readonly Message[], link: AgentLink): Promise<void> {
    const earlier = this._earlierGone();
    const session = this._session;
    const turn = new PlainTurn(this._plan, link);
    this._turn = turn;
    this._leaving.add(turn);
    turn.gone.then(() => this._leaving.delete(turn)).catch(() => undefined);
    try {
      const words = session.takeFirstWords();
      if (words.length > 0) await link.write(words);
      const options = session.startOptions();
      const { isKnown } = session;
      session.noteSent(link.runId);
      await turn.carryOut({ options, messages: toTell(messages, link, isKnown), isKnown, after: earlier });
    } finally {
      session.sessionId = turn.sessionId ?? session.sessionId;
      if (turn.hasStarted) session.noteStart();
      if (turn.hasResult) session.noteTurn(turn.lastMessageId);
      this._turn = undefined;
    }
  }

  /**
   * Another process may continue a session only when the previous one has released it; a kept process does not use it.
   */
  private async _earlierGone(): Promise<void> {
    await Promise.all([...this._leaving].filter((turn) => !turn.isKept).map((turn) => turn.gone));
  }

  async interrupt(): Promise<void> {
    this._turn?.interrupt();
  }

  async mcpStatus(): Promise<readonly McpServerStatus[]> {
    throw new StartError("feature-unavailable", `mcpStatus is not available on claude-code: ${STATUS_NEEDS_CONTROL}.`);
  }

  /** The prompt is the process's whole input, so it cannot be started before there is one. */
  async warmUp(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this._isClosed = true;
    const turn = this._turn;
    await turn?.close();
    // A separate run has taken over its kept processes; those of a session are stopped here.
    await Promise.all([...this._leaving].filter((one) => !one.isHandedOver).map((one) => one.stopKept()));
  }

  /** A running process cannot be changed. */
  protected async _request(): Promise<void> {}
}
