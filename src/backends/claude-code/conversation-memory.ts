import type { JsonRecord } from "#wire";
import { watchesTools } from "./control/initialize.ts";
import { type ConversationPlan, goesOn, resuming } from "./conversation-plan.ts";
import { type GatedFeature, requireFeature } from "./features.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";

/** What a conversation knows from one process to the next: its options as they are now, and its session. */
export class ConversationMemory {
  sessionId: string | undefined;
  private readonly _plan: ConversationPlan;
  private _options: ClaudeCodeOptions;
  private _features: readonly string[];
  private _isKnown: boolean;
  private _hasTurned = false;

  constructor(plan: ConversationPlan) {
    this._plan = plan;
    this._options = plan.options;
    this._features = plan.features;
    this._isKnown = goesOn(plan.options);
  }

  /** The CLI remembers what was said so far. */
  get isKnown(): boolean {
    return this._isKnown;
  }

  get features(): readonly string[] {
    return this._features;
  }

  /**
   * The options for a new process. It goes on with the session; one that has no id, or is written nowhere, is lost with
   * its process, and what was said in it has to be told again.
   */
  startOptions(): ClaudeCodeOptions {
    if (this._isKnown && this._isSaved) return resuming(this._options, this.sessionId as string);
    this._isKnown = goesOn(this._options) && !this._hasTurned;
    return this._options;
  }

  private get _isSaved(): boolean {
    return this.sessionId !== undefined && this._options.persistSession !== false;
  }

  /** A turn has come to its end. */
  noteTurn(): void {
    this._isKnown = true;
    this._hasTurned = true;
  }

  /** The session holds something that must not be gone back to. */
  forget(): void {
    this.sessionId = undefined;
    this._isKnown = false;
  }

  /** Sees to it that tools are watched. `false`: they were all along. */
  watchTools(): boolean {
    if (watchesTools(this._features)) return false;
    this._features = [...this._features, "hooks"];
    return true;
  }

  /** Changes an option: `ask` tells the process at work, and from then on every new one is told. Rejects if one refuses. */
  async change(change: Change, ask: (request: JsonRecord) => Promise<void>): Promise<void> {
    const checked = checkClaudeCodeOptions(change.options);
    if (change.needs !== undefined) requireFeature(this._plan.cli.version, change.needs);
    await ask(change.request);
    this._options = { ...this._options, ...checked };
  }
}

/** One change of an option, as an option and as a request to a CLI at work. */
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
