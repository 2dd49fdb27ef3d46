import type { Message, RunStatus } from "#domain";

/** What every hook is told, wherever it stands. */
export interface Occasion {
  readonly runId: string;
  /** The agent whose leg this is. */
  readonly agent: string | undefined;
  /** The caller's own value, from the `context` option of the run. */
  readonly context: unknown;
  /** Fires when the run is aborted or the hook's time is up. */
  readonly signal: AbortSignal;
}

/** A user's prompt is about to be answered. */
export interface PromptOccasion extends Occasion {
  readonly text: string;
  readonly messages: readonly Message[];
}

/** A tool is about to be run. `input` is a copy: changing it changes nothing. */
export interface BeforeToolOccasion extends Occasion {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly executedBy: "millrace" | "backend";
}

/** A tool has answered, well (`isError` false) or badly. */
export interface AfterToolOccasion extends BeforeToolOccasion {
  readonly output: unknown;
  readonly isError: boolean;
}

/** One agent is about to hand over to another, or has done so. */
export interface HandoffOccasion extends Occasion {
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** The agent has nothing more to ask and is about to stop. */
export interface BeforeStopOccasion extends Occasion {
  readonly text: string;
  /** How often a hook has already sent the agent back to work in this leg. */
  readonly sentBack: number;
}

/** The run is over. Observe only. */
export interface RunEndOccasion extends Occasion {
  readonly status: RunStatus;
  readonly text: string;
}

/** The named places where hooks run, and what a hook there is told. */
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

/** Every point, in the order a run meets them. */
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
 * What a hook answers. Nothing (`undefined`, `{}`) means: no opinion. Fields a point does not know are a wrong answer.
 *
 * | field | where | does |
 * |---|---|---|
 * | `block` | prompt, before-tool, before-handoff, before-stop, after-tool | says no, with the reason. prompt: the run ends with it. before-tool: the tool does not run. before-handoff: no handoff. before-stop: the agent goes on, with the reason as feedback. after-tool: the model gets the reason beside the output |
 * | `allow` | before-tool | the tool may run without asking the callback; a rule that denies or asks still wins |
 * | `ask` | before-tool | a person decides; text is the reason shown |
 * | `input` | before-tool | replaces the arguments |
 * | `output` | after-tool | replaces what the model sees |
 * | `message` | before-handoff | replaces what the next agent is told |
 * | `context` | prompt, before-tool, after-tool | a further note for the model |
 * | `stop` | all but run-end | ends the run, with the reason. What the point comes before does not happen: the prompt is not answered, the tool does not run, there is no handoff |
 *
 * What fails counts as `block` at before-tool and before-handoff. At the other points it becomes a warning.
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

/** A hook: it is told of the occasion and may answer. No answer lets the run go on. */
export type HookFunction<Name extends Point> = (
  occasion: Points[Name],
) => HookAnswer | undefined | void | Promise<HookAnswer | undefined | void>;

/** A hook with its conditions. */
export interface HookEntry<Name extends Point> {
  /** Which tools (tool points only): a name, several (`"Bash|Read"`), or a pattern with `*` (`"mcp__*"`). Default: all. */
  readonly tool?: string;
  /** Its time. Default 60 000, at least 1 000. A late before-tool hook denies; a late observer is left behind with a warning. */
  readonly timeoutMs?: number;
  readonly run: HookFunction<Name>;
}

/**
 * The hooks of a run, by point. Those of one point run at the same time; `block` wins over `stop`, `stop` over `ask`,
 * `ask` over `allow`. When several replace the same thing, the last in the list is followed. After an abort none is
 * started but those at run-end, which then have a second.
 *
 * @example
 * const hooks: Hooks = {
 *   "before-tool": [{ tool: "Bash", run: ({ input }) => (JSON.stringify(input).includes("sudo") ? { block: "Not here." } : undefined) }],
 * }
 */
export type Hooks = { readonly [Name in Point]?: readonly (HookFunction<Name> | HookEntry<Name>)[] };
