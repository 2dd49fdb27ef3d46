import type { McpServerStatus, Message } from "#domain";
import type { JsonRecord } from "#wire";
import type { AgentLink } from "../../backend.ts";
import { unknownAgent } from "./answers.ts";
import { type ClaudeCodeConversation, type ConversationPlan, refuseTurn } from "./plan.ts";
import { CHANGES, SessionState } from "./session-state.ts";

/** What a conversation has in both modes: one turn at a time, and a session whose options can be changed. */
export abstract class BaseConversation implements ClaudeCodeConversation {
  protected readonly _plan: ConversationPlan;
  protected readonly _session: SessionState;
  protected _isClosed = false;

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
    const refusal = refuseTurn(this._isClosed, this._isBusy);
    if (refusal === undefined) await this._carryOut(messages, link);
    else await link.write([refusal]);
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

  abstract interrupt(): Promise<void>;
  abstract mcpStatus(): Promise<readonly McpServerStatus[]>;
  abstract warmUp(): Promise<boolean>;
  abstract close(): Promise<void>;

  /** A turn is under way. */
  protected abstract get _isBusy(): boolean;
  protected abstract _carryOut(messages: readonly Message[], link: AgentLink): Promise<void>;
  /** Sends a request to the running process; without one, the new value is used at the next start. */
  protected abstract _request(request: JsonRecord): Promise<void>;
}
