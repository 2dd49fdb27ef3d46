import { errorItem, type Message, StartError, warningItem } from "#domain";
import type { AgentLink } from "../backend.ts";
import type { ClaudeCodeConversation } from "./conversation.ts";
import { PlainTurn } from "./conversation-plain-turn.ts";
import { type ConversationPlan, goesOn, resuming } from "./conversation-plan.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";

/** Creates a conversation in plain mode: one process per turn, and each goes on with the session of the last. */
export function createPlainConversation(plan: ConversationPlan): ClaudeCodeConversation {
  return new PlainConversation(plan);
}

class PlainConversation implements ClaudeCodeConversation {
  private readonly _plan: ConversationPlan;
  private _options: ClaudeCodeOptions;
  private _sessionId: string | undefined;
  private _isKnown: boolean;
  private _isWarned = false;
  private _isClosed = false;
  private _turn: PlainTurn | undefined;

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._options = plan.options;
    this._isKnown = goesOn(plan.options);
  }

  get sessionId(): string | undefined {
    return this._sessionId;
  }

  async send(messages: readonly Message[], link: AgentLink): Promise<void> {
    if (link.signal.aborted) return;
    const refusal = this._refusal();
    if (refusal !== undefined) {
      await link.write([errorItem({ code: "control-failed", message: refusal, terminal: true })]);
      return;
    }
    const turn = new PlainTurn(this._plan, link);
    this._turn = turn;
    try {
      if (!this._isWarned && this._plan.warnings.length > 0) await link.write(this._plan.warnings.map(warningItem));
      this._isWarned = true;
      const isResumable = this._isKnown && this._sessionId !== undefined;
      const options = isResumable ? resuming(this._options, this._sessionId as string) : this._options;
      await turn.carryOut(options, messages, this._isKnown);
    } finally {
      this._sessionId = turn.sessionId ?? this._sessionId;
      if (turn.hasResult) this._isKnown = true;
      this._turn = undefined;
    }
  }

  async interrupt(): Promise<void> {
    this._turn?.interrupt();
  }

  async setModel(model: string): Promise<void> {
    this._set({ model });
  }

  async setPermissionMode(mode: string): Promise<void> {
    this._set({ permissionMode: mode });
  }

  async setAgent(name: string): Promise<void> {
    this._set({ agent: name });
  }

  async mcpStatus(): Promise<readonly unknown[]> {
    throw new StartError("feature-unavailable", 'mcpStatus needs the control protocol. Set mode to "control".');
  }

  async warmUp(): Promise<void> {
    // A process that has its prompt as its whole input cannot be started before there is one.
  }

  async close(): Promise<void> {
    this._isClosed = true;
    await this._turn?.close();
  }

  private _refusal(): string | undefined {
    if (this._isClosed) return "The conversation is closed. Open another one.";
    return this._turn === undefined ? undefined : "A turn is under way. Send the next message when it is over.";
  }

  /** For the next process: the one at work cannot be told. */
  private _set(change: Readonly<Record<string, unknown>>): void {
    this._options = { ...this._options, ...checkClaudeCodeOptions(change) };
  }
}
