import type { Chunk, Clock, Message, NextTurn, RunStatus } from "#domain";
import type { Guard, OutputMode } from "./guard.ts";
import type { PathLookup } from "./path-lookup.ts";
import type { Decision, PermissionCallback, PermissionRules } from "./permission.ts";
import type { Hooks } from "./point.ts";

/** The hooks, permissions and guards of one leg. */
export interface PolicySettings {
  /** Those of the run and those of the agent; all of them run. */
  readonly hooks: readonly Hooks[];
  /** Those of the run, then those of the agent. The strictest wins. */
  readonly rules: readonly PermissionRules[];
  readonly permission: PermissionCallback | undefined;
  /** The time limit of a permission callback that does not ask a person. Default 60 000. */
  readonly permissionMs?: number | undefined;
  readonly guards: readonly Guard[];
  readonly outputMode: OutputMode | undefined;
}

/** The run that a policy belongs to. */
export interface PolicyContext {
  readonly runId: string;
  readonly agent: string | undefined;
  readonly context: unknown;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Accepts `permission`, `warning` and `notice` chunks and publishes them at once, in order. */
  readonly write: (chunks: readonly Chunk[]) => void;
  /** Waits for `run.answer(callId, …)`; an abort answers with a denial. */
  readonly ask: (callId: string) => Promise<Decision>;
  /** Whether a question can be seen and answered. Default: it can. */
  readonly canAnswer?: (() => boolean) | undefined;
  /** Resolves paths. If left out, rules are matched against paths as written. */
  readonly paths?: PathLookup | undefined;
  /** Resolves in the next turn of the event loop. Without it, large arguments are copied and compared at once. */
  readonly nextTurn?: NextTurn | undefined;
}

/** A tool call that is waiting for a decision. */
export interface CallToCheck {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly executedBy: "millrace" | "backend";
  /** The call gives the final answer or hands over; the `otherwise` of the rules does not apply to it. */
  readonly isFinal?: boolean | undefined;
  /** Fires when the question is withdrawn: an answer is no longer needed, and the call is denied. */
  readonly signal?: AbortSignal | undefined;
  /** The folder the call itself runs in, if it is not the run's. */
  readonly cwd?: string | undefined;
  /** Other names of the tool, such as the one it had before: rules, hooks and guards may use any of them. */
  readonly otherNames?: readonly string[] | undefined;
}

/** `stop`: the run ends after this step, for this reason. `notes`: further text for the model. */
export interface HookEffects {
  readonly notes: readonly string[];
  readonly stop: string | undefined;
}

/** Bound to these arguments of this call; the first `redeem` uses it up. */
export interface Grant {
  /**
   * Reads large arguments, which are not the object of the verdict, in several turns of the event loop, so that `redeem`
   * need not do it at once. Call it directly before.
   */
  prepare?(input: unknown): Promise<void>;
  /** Whether exactly these arguments may run now. Returns `true` at most once. */
  redeem(input: unknown): boolean;
}

export type CallVerdict = HookEffects &
  (
    | {
        readonly kind: "run";
        readonly input: unknown;
        readonly grant: Grant;
        /**
         * What allowed the call. Absent when nothing was asked and nothing denied it: then the agent's own rules apply.
         */
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
 * Decides for one leg of one run. No method rejects. A failure or a timeout prevents the step where the check can
 * prevent it, and causes a warning where the check only observes. After an abort nothing is allowed.
 */
export interface RunPolicy {
  /** Nothing is set that concerns tools: a call may run at once, without a `permission` event. */
  readonly isSilentOnTools: boolean;
  /** Nothing is set that checks output. */
  readonly isSilentOnOutput: boolean;
  /**
   * Input guards, then prompt hooks. Returns the messages as they are to be sent, with replaced text and added notes.
   */
  checkPrompt(messages: readonly Message[]): Promise<PromptVerdict>;
  /**
   * Before-tool hooks, then tool-call guards; then, on the final arguments: deny rules, hook denials, ask and allow
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
  /**
   * The signal fires when the question is withdrawn: the hooks' signals fire too, and the agent is not made to go on.
   */
  checkStop(text: string, sentBack: number, signal?: AbortSignal): Promise<StopVerdict>;
  noteEnd(status: RunStatus, text: string): Promise<void>;
  /** Holds back output until the output guards have passed it. One gate per leg. */
  createOutputGate(): OutputGate;
}

/**
 * Holds back text and thinking until the output guards have passed them. Chunks that follow held text of the same agent
 * or sub-agent wait too, so that the order is kept. After a denial nothing more comes out; after an abort no text.
 */
export interface OutputGate {
  /**
   * Never rejects; overlapping calls run one after the other. `message` and `result` chunks carry the replaced text. A
   * terminal error drops the held text of unfinished messages.
   */
  pass(chunks: readonly Chunk[]): Promise<readonly Chunk[]>;
  /**
   * Drops the held text of a reply that broke off. What was queued after it comes with the next `pass`, even of an
   * empty list.
   */
  drop(messageId: string): void;
  readonly denial: { readonly reason: string; readonly guard: string } | undefined;
}
