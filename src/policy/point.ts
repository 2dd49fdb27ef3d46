import type { Message, RunStatus } from "#domain";

/** The fields that every hook receives. */
export interface Occasion {
  readonly runId: string;
  /** The agent of the current leg. */
  readonly agent: string | undefined;
  /** The value of the run's `context` option. */
  readonly context: unknown;
  /** Fires when the run is aborted or the hook's time limit is reached. */
  readonly signal: AbortSignal;
}

/** Before a user's prompt is answered. */
export interface PromptOccasion extends Occasion {
  readonly text: string;
  readonly messages: readonly Message[];
}

/** Before a tool runs. `input` is a copy: changing it has no effect. */
export interface BeforeToolOccasion extends Occasion {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly executedBy: "millrace" | "backend";
}

/** After a tool has returned, or failed (`isError`). */
export interface AfterToolOccasion extends BeforeToolOccasion {
  readonly output: unknown;
  readonly isError: boolean;
}

/** Before or after one agent hands over to another. */
export interface HandoffOccasion extends Occasion {
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** Before the agent stops, when it has no more tool calls. */
export interface BeforeStopOccasion extends Occasion {
  readonly text: string;
  /** How often a hook has already made the agent go on in this leg. */
  readonly sentBack: number;
}

/** After the run has ended. Observe only. */
export interface RunEndOccasion extends Occasion {
  readonly status: RunStatus;
  readonly text: string;
}

/** The points at which hooks run, and what a hook receives at each. */
export interface Points {
  readonly prompt: PromptOccasion;
  readonly "before-tool": BeforeToolOccasion;
  readonly "after-tool": AfterToolOccasion;
  readonly "before-handoff": HandoffOccasion;
  readonly "after-handoff": HandoffOccasion;
  readonly "before-stop": BeforeStopOccasion;
  readonly "run-end": RunEndOccasion;
}

/** A point of a run at which hooks are called. */
export type Point = keyof Points;

/** All points, in the order in which a run reaches them. */
export const POINTS = [
  "prompt",
  "before-tool",
  "after-tool",
  "before-handoff",
  "after-handoff",
  "before-stop",
  "run-end",
] as const satisfies readonly Point[];

/**
 * A hook's answer. `undefined` and `{}` mean "no opinion". A field that the point does not support makes the answer
 * invalid.
 *
 * | field | where | does |
 * |---|---|---|
 * | `block` | prompt, before-tool, before-handoff, before-stop, after-tool | says no, with the reason. prompt: the run ends with it. before-tool: the tool does not run. before-handoff: no handoff. before-stop: the agent goes on, with the reason as feedback. after-tool: the model gets the reason next to the output |
 * | `allow` | before-tool | the tool may run without asking the callback; a rule that denies or asks still wins |
 * | `ask` | before-tool | a person decides; a string is shown as the reason |
 * | `input` | before-tool | replaces the arguments |
 * | `output` | after-tool | replaces what the model sees |
 * | `message` | before-handoff | replaces the message to the next agent |
 * | `context` | prompt, before-tool, after-tool | a further note for the model |
 * | `stop` | all but run-end | ends the run, with the reason. The step that the point precedes does not happen: the prompt is not answered, the tool does not run, there is no handoff |
 *
 * A hook that fails counts as `block` at before-tool and before-handoff. At the other points it causes a warning.
 */
export interface HookAnswer {
  readonly block?: string;
  readonly allow?: true;
  readonly ask?: true | string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly message?: string;
  readonly context?: string;
  readonly stop?: string;
}

/** A hook: it receives the occasion and may answer. Without an answer the run goes on. */
export type HookFunction<Name extends Point> = (
  occasion: Points[Name],
) => HookAnswer | undefined | void | Promise<HookAnswer | undefined | void>;

/** A hook with its conditions. */
export interface HookEntry<Name extends Point> {
  /** Tool points only: a tool name, several (`"Bash|Read"`), or a pattern with `*` (`"mcp__*"`). Default: all tools. */
  readonly tool?: string;
  /**
   * The time limit. Default 60 000, at least 1 000. A before-tool hook that is late denies; where a hook only observes,
   * the run goes on with a warning.
   */
  readonly timeoutMs?: number;
  readonly run: HookFunction<Name>;
}

/**
 * The hooks of a run, by point. The hooks of one point run at the same time; `block` wins over `stop`, `stop` over
 * `ask`, `ask` over `allow`. If several replace the same thing, the last in the list wins. After an abort only run-end
 * hooks are started, with a limit of one second.
 *
 * @example
 * const hooks: Hooks = {
 *   "before-tool": [{ tool: "Bash", run: ({ input }) => (JSON.stringify(input).includes("sudo") ? { block: "Not here." } : undefined) }],
 * }
 */
export type Hooks = { readonly [Name in Point]?: readonly (HookFunction<Name> | HookEntry<Name>)[] };
