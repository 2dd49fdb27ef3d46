import type { Chunk, Clock, Message, RunStatus } from "#domain";
import type { Guard, OutputMode } from "./guard.ts";
import type { PathLookup } from "./path-lookup.ts";
import type { Decision, PermissionCallback, PermissionRules } from "./permission.ts";
import type { Hooks } from "./point.ts";

/** The hooks, permissions and guards of one leg. */
export interface PolicySettings {
  /** The run's and the agent's; all of them run. */
  readonly hooks: readonly Hooks[];
  /** The run's first, then the agent's: who is further up has said it for everyone below. */
  readonly rules: readonly PermissionRules[];
  readonly permission: PermissionCallback | undefined;
  /** The time a permission callback has that asks no person. Default 60 000. */
  readonly permissionMs?: number | undefined;
  readonly guards: readonly Guard[];
  readonly outputMode: OutputMode | undefined;
}

/** What a policy needs of the run it watches. */
export interface PolicyContext {
  readonly runId: string;
  readonly agent: string | undefined;
  readonly context: unknown;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Takes `permission`, `warning` and `notice` chunks, in order, at once. */
  readonly write: (chunks: readonly Chunk[]) => void;
  /** Waits for `run.answer(callId, …)`; an abort answers with a denial. */
  readonly ask: (callId: string) => Promise<Decision>;
  /** Whether anybody is there who could see a question and answer it. Left out: somebody is. */
  readonly canAnswer?: (() => boolean) | undefined;
  /** Where paths lead. Left out: rules are held against paths as they are written. */
  readonly paths?: PathLookup | undefined;
}

/** A tool call somebody wants to run. */
export interface CallToCheck {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly executedBy: "millrace" | "backend";
  /** It gives the final answer or hands over: what rules say of calls they are not about does not hold for it. */
  readonly isFinal?: boolean | undefined;
  /** Fires when whoever asks takes the question back: nobody needs to answer it any more, and the call is denied. */
  readonly signal?: AbortSignal | undefined;
  /** The folder the call itself is relative to, where that is not the run's. */
  readonly cwd?: string | undefined;
}

/** `stop`: the run is to end after this step, for this reason. `notes`: further text for the model. */
export interface HookEffects {
  readonly notes: readonly string[];
  readonly stop: string | undefined;
}

/** Bound to these arguments of this call, and used up by the first `redeem`. */
export interface Grant {
  /** Whether exactly these arguments may run now. `true` once at most. */
  redeem(input: unknown): boolean;
}

export type CallVerdict = HookEffects &
  (
    | {
        readonly kind: "run";
        readonly input: unknown;
        readonly grant: Grant;
        /** Who said yes. Absent when nobody was asked and nothing spoke against it: an agent's own rules then hold. */
        readonly by?: "rule" | "callback" | "hook" | "user" | undefined;
      }
    | { readonly kind: "denied"; readonly reason: string; readonly by: "rule" | "callback" | "hook" | "guard" | "user" }
  );

export interface ResultVerdict extends HookEffects {
  readonly output: unknown;
  readonly isError: boolean;
}

export type PromptVerdict = HookEffects &
  (
    | { readonly kind: "go"; readonly messages: readonly Message[] }
    | { readonly kind: "blocked"; readonly reason: string; readonly by: "hook" | "guard" }
  );

export type HandoffVerdict = HookEffects &
  ({ readonly kind: "go"; readonly message: string } | { readonly kind: "blocked"; readonly reason: string });

export type StopVerdict = HookEffects &
  ({ readonly kind: "stop" } | { readonly kind: "go-on"; readonly feedback: string });

/**
 * Decides, for one leg of one run. No method rejects. What fails or comes late where something may be prevented,
 * prevents it; where something is only watched, it becomes a warning. After an abort nothing is allowed.
 */
export interface RunPolicy {
  /** Nothing is set that concerns tools: a call may run at once, and no `permission` event is due. */
  readonly isSilentOnTools: boolean;
  /** Nothing is set that looks at output. */
  readonly isSilentOnOutput: boolean;
  /** Input guards, then prompt hooks. The messages come back as they are to be sent: replaced text, notes added. */
  checkPrompt(messages: readonly Message[]): Promise<PromptVerdict>;
  /**
   * Before-tool hooks, then tool-call guards, then on the final arguments: deny rules, hook denials, ask and allow
   * rules, hook approval, the callback, a person. Writes a `permission` event for every step of the decision.
   */
  checkCall(call: CallToCheck): Promise<CallVerdict>;
  /** Tool-result guards, then after-tool hooks. */
  checkResult(
    call: CallToCheck,
    outcome: { readonly output: unknown; readonly isError: boolean },
  ): Promise<ResultVerdict>;
  checkHandoff(handoff: {
    readonly from: string;
    readonly to: string;
    readonly message: string;
  }): Promise<HandoffVerdict>;
  noteHandoff(handoff: { readonly from: string; readonly to: string; readonly message: string }): Promise<HookEffects>;
  /** The signal fires when whoever asks takes the question back: the hooks are told so, and nobody is sent back. */
  checkStop(text: string, sentBack: number, signal?: AbortSignal): Promise<StopVerdict>;
  noteEnd(status: RunStatus, text: string): Promise<void>;
  /** Holds back what output guards have not passed. A fresh one per leg. */
  createOutputGate(): OutputGate;
}

/**
 * Chunks in, chunks out: text and thinking are held back until the output guards have passed them. What stands behind
 * held text of the same agent or sub-agent waits with it, so that the order stays what it was. After a denial nothing
 * more comes out; after an abort no text.
 */
export interface OutputGate {
  /**
   * Never rejects; calls that overlap are carried out one after the other. `message` and `result` chunks come out with
   * the replaced text. A terminal error lets go of the text of messages that are not finished.
   */
  pass(chunks: readonly Chunk[]): Promise<readonly Chunk[]>;
  /** A reply broke off: its unseen text is dropped. What waited behind it comes with the next `pass`, also of nothing. */
  drop(messageId: string): void;
  readonly denial: { readonly reason: string; readonly guard: string } | undefined;
}
