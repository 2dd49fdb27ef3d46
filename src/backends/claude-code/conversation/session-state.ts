import type { Chunk } from "#domain";
import type { JsonRecord } from "#wire";
import { watchesTools } from "../control/initialize.ts";
import { type ConversationPlan, firstWords, goesOn, resuming } from "./plan.ts";
import { type GatedFeature, hasFeature, requireFeature } from "../features.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "../options.ts";

/** The state of a conversation across processes: its current options, and the position in its session. */
export class SessionState {
  sessionId: string | undefined;
  private readonly _plan: ConversationPlan;
  private _options: ClaudeCodeOptions;
  private _features: readonly string[];
  private _isKnown: boolean;
  private _hasTurned = false;
  private _isIntroduced = false;
  /** The CLI's id of the last message of the last run that was kept. */
  private _point: string | undefined;
  private _latest: string | undefined;
  /** The ids of our messages since then. */
  private _sent: string[] = [];
  private _goesBack = false;
  /** A process was started at the point and has not confirmed yet that it was found. */
  private _isPointTried = false;

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._options = plan.options;
    this._features = plan.features;
    this._isKnown = goesOn(plan.options);
    this._point = plan.resumeAt;
    // The end of that session is not the point at which it continues.
    this._goesBack = plan.resumeAt !== undefined;
    this.sessionId = plan.resumeAt === undefined ? undefined : plan.options.resume;
  }

  /** The warnings and notices before the first turn, once. */
  takeFirstWords(): readonly Chunk[] {
    if (this._isIntroduced) return [];
    this._isIntroduced = true;
    return firstWords(this._plan);
  }

  /** The CLI has the conversation so far. */
  get isKnown(): boolean {
    return this._isKnown;
  }

  get features(): readonly string[] {
    return this._features;
  }

  /** The point of the session after the last run that was kept. */
  get point(): string | undefined {
    return this._point;
  }

  /** Messages that the running process must forget, the last one first. */
  get toForget(): readonly string[] {
    return this._goesBack ? this._sent.toReversed() : [];
  }

  /**
   * The options for a new process. It continues the session; a session without an id, or one that is not saved, is lost
   * with its process, and the conversation must be sent again.
   */
  startOptions(): ClaudeCodeOptions {
    this._sent = [];
    if (this._goesBack && !this._canGoBack) this.forget();
    if (this._isKnown && this._isSaved) {
      const at = this._goesBack ? this._point : undefined;
      this._isPointTried = at !== undefined;
      return resuming(this._options, this.sessionId as string, at);
    }
    this._isKnown = goesOn(this._options) && !this._hasTurned;
    return this._options;
  }

  private get _isSaved(): boolean {
    return this.sessionId !== undefined && this._options.persistSession !== false;
  }

  /** A resumed session without a point continues from its end: only the session contains the earlier conversation. */
  private get _canGoBack(): boolean {
    const { version } = this._plan.cli;
    if (this._point === undefined) return goesOn(this._options);
    return !this._isPointTried && (version === undefined || hasFeature(version, "resume-at"));
  }

  /** Our message is sent. */
  noteSent(id: string): void {
    this._sent.push(id);
  }

  /** The process has confirmed that it works on the session as requested. */
  noteStart(): void {
    this._isPointTried = false;
    this._goesBack = false;
  }

  /** A turn has ended. `messageId`: the CLI's id of its last message. */
  noteTurn(messageId: string | undefined): void {
    this._isKnown = true;
    this._hasTurned = true;
    this._latest = messageId ?? this._latest;
  }

  /** The run of the last turns is over. `false`: they are to be forgotten. */
  settle(isKept: boolean): void {
    if (this._sent.length === 0) return;
    if (isKept) {
      this._sent = [];
      this._point = this._latest;
    } else {
      this._latest = this._point;
      this._goesBack = true;
    }
  }

  /** The running process has forgotten what was to be forgotten. */
  noteForgotten(): void {
    this._goesBack = false;
    this._sent = [];
  }

  /** The session contains something that must not be resumed. */
  forget(): void {
    this.sessionId = undefined;
    this._point = undefined;
    this._latest = undefined;
    this._isPointTried = false;
    this._goesBack = false;
    this._isKnown = false;
  }

  /** Makes sure that tools are checked. `false`: they were already. */
  watchTools(): boolean {
    if (watchesTools(this._features)) return false;
    this._features = [...this._features, "hooks"];
    return true;
  }

  /**
   * Changes an option: `ask` changes the running process, and every later start uses the new value. Rejects if refused.
   */
  async change(change: Change, ask: (request: JsonRecord) => Promise<void>): Promise<void> {
    const checked = checkClaudeCodeOptions(change.options);
    if (change.needs !== undefined) requireFeature(this._plan.cli.version, change.needs);
    await ask(change.request);
    this._options = { ...this._options, ...checked };
  }
}

/** One change of an option, as an option and as a request to a running CLI. */
export interface Change {
  readonly options: Readonly<Record<string, unknown>>;
  readonly request: JsonRecord;
  readonly needs?: GatedFeature;
}

export const CHANGES = {
  model: (model: string): Change => ({
    options: { model },
    request: { subtype: "set_model", model },
    needs: "set-model",
  }),
  permissionMode: (mode: string): Change => ({
    options: { permissionMode: mode },
    request: { subtype: "set_permission_mode", mode },
    needs: "set-permission-mode",
  }),
  agent: (name: string): Change => ({
    options: { agent: name },
    request: { subtype: "apply_flag_settings", settings: { agent: name } },
    needs: "set-agent",
  }),
} as const;
