import type { ModelRequest } from "#dialects";
import type { Block, Chunk, McpServerStatus, Message } from "#domain";
import type { RunPolicy } from "#policy";
import type { JsonSchema, Outcome, Tool } from "#tools";

/**
 * Answers one turn; our runner loops.
 *
 * `stream` yields batches of chunks: deltas, then the `message`, then its `tool-call`s, as the formats make them. It
 * never throws: a failure is a terminal `error` chunk, the last thing it yields. It ends promptly when the signal
 * fires, without an error of its own. It opens nothing before it is iterated, and releases everything when it ends
 * or is left.
 */
export interface ModelBackend {
  readonly kind: "model";
  /** The provider's name: `anthropic`, `openai`, `google`, `openrouter` … */
  readonly name: string;
  readonly model: string;
  /** Parts of a request this backend cannot pass on. Asking for one gives a warning, once. */
  readonly ignores?: readonly ("thinkingTokens" | "temperature" | "toolChoice" | "parallelToolCalls")[];
  /**
   * Whether this model can be asked for answers of this form, beside tools if there are any. `true`: give it as
   * `output`. A text: it cannot, and why; offer a tool instead. Without this member it never can.
   */
  readonly nativeOutput?: (schema: JsonSchema, hasTools: boolean) => true | string;
  /**
   * Why a block of the input cannot be sent, as the end of "… cannot be sent to anthropic: ". `undefined`: it can.
   * Asked before a run starts. Without this member every block can be sent.
   */
  readonly cannotSend?: (block: Block) => string | undefined;
  /** `false`: its host sets prices of its own, whatever the names of its models are. */
  readonly hasKnownPrices?: boolean;
  /** Keys, passwords and secret headers it uses. They are covered in every event of a run, in every form. */
  readonly secrets?: () => readonly string[];
  /** The same backend with another model: same host, key and options. Without this member its model cannot be changed. */
  readonly withModel?: (model: string) => ModelBackend;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly Chunk[]>;
}

/** What an agent backend is given for a whole conversation. */
export interface AgentSettings {
  readonly instructions: string | undefined;
  /** Our own tools; the agent calls them through `AgentLink.runTool`, and callers never see another name for them. */
  readonly tools: readonly Tool[];
  /** What the conversation will ask for that not every mode can do. Known before the first message. */
  readonly features: readonly AgentFeature[];
  readonly outputSchema: JsonSchema | undefined;
  readonly turns: number | undefined;
  readonly costUsd: number | undefined;
  /** Silence that ends a turn. Default 300 000. Not counted while a tool, a hook or a permission of ours is at work. */
  readonly idleMs?: number | undefined;
  /** Tokens of one reply. */
  readonly maxTokens?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  /** Each chunk keeps the frame it was read from, as `raw`. */
  readonly keepRaw?: boolean | undefined;
  /** How often a model is asked before a failure counts, the first time included. */
  readonly attempts?: number | undefined;
  /** Models to fall back to, by the names the agent knows them by. */
  readonly fallbackModels?: readonly string[] | undefined;
  readonly resume: Resume | undefined;
  readonly cwd: string | undefined;
  /** Variables for the agent's process beside the allowed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Refuse instead of warn when something asked for cannot be had. */
  readonly strict: boolean;
}

/** What a caller may ask of an agent backend beyond text in, events out. */
export type AgentFeature =
  | "hooks"
  | "tools"
  | "permission"
  | "permission-rules"
  | "guards"
  | "agents"
  | "output"
  | "session";

/** Where a conversation goes on. */
export type Resume =
  | {
      readonly kind: "resume";
      readonly sessionId: string;
      readonly fork: boolean;
      /** Go on from this point of the session, and not from its end. A `point` of a conversation. */
      readonly at?: string | undefined;
      /** Where the session is gone, begin another one: the messages hold all that was said. A notice says so. */
      readonly orReplay?: boolean | undefined;
    }
  | { readonly kind: "continue"; readonly fork: boolean };

/** How an agent backend reaches us during one turn of a conversation. */
export interface AgentLink {
  readonly runId: string;
  readonly signal: AbortSignal;
  /** `undefined`: write on. A promise: readers lag; wait for it before reading more. Never rejects. */
  write(chunks: readonly Chunk[]): Promise<void> | undefined;
  /** Who decides about tool calls, ours and the agent's own. */
  readonly policy: RunPolicy;
  /** Our tools that hand over to another agent: rules that are not about them leave them alone. */
  readonly finalTools?: readonly string[] | undefined;
  /**
   * The whole conversation, the messages of this turn included. An agent that has lost what was said before, with its
   * process for example, is told this in place of the messages alone. Missing where the messages are all there is.
   */
  readonly transcript?: readonly Message[] | undefined;
  /** Nothing is sent after this turn: the agent may end with it, and how it ends belongs to the turn. */
  readonly isLast?: boolean | undefined;
  /**
   * Takes over work that ends what the turn has started, so that `send` need not wait for it; `run.closed` does. Where
   * it is missing, `send` waits itself.
   */
  cleanUp?(work: Promise<unknown>, options?: { readonly maxMs?: number | undefined }): void;
  /** Runs one of our tools with arguments the policy has let through. Never rejects. */
  runTool(call: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    /** Fires when the agent takes this one call back. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<Outcome>;
}

/**
 * Carries out a whole run with a loop of its own, and calls us back for tools, permissions and hooks.
 *
 * `open` may start what is needed, or leave it to the first `send`. It rejects with a `StartError` when the agent
 * cannot be had (not installed, too old, cannot do what is asked and `strict` is on).
 */
export interface AgentBackend {
  readonly kind: "agent";
  readonly name: string;
  readonly model: string | undefined;
  /** The folder it works in unless its settings name another. */
  readonly cwd?: string | undefined;
  /** It keeps sessions, and `resume` goes on with one. Without this member it does not. */
  readonly keepsSessions?: boolean;
  /** Why a block of the input cannot be sent; as for a model. */
  readonly cannotSend?: (block: Block) => string | undefined;
  /** The mode and the reasons, without doing anything. Pure. */
  explain(settings: AgentSettings): Explanation;
  /**
   * Why a session cannot have a control, as the end of "… cannot be had on claude-code: ", with the remedy. `undefined`:
   * it can. Without this member a control can be had when the conversation has the method for it.
   */
  readonly cannotControl?: (control: AgentControl, settings: AgentSettings) => string | undefined;
  /** What must not be shown of how the agent is started with these variables. Covered in every event of a run. */
  readonly secrets?: (env: Readonly<Record<string, string>>) => readonly string[];
  open(settings: AgentSettings): Promise<AgentConversation>;
}

/** What a session may have an agent backend do beside answering. */
export type AgentControl = "setModel" | "setPermissionMode" | "setAgent" | "mcpStatus" | "warmUp";

/** A live conversation with an agent backend: one turn at a time. */
export interface AgentConversation {
  /**
   * Has the agent answer. Writes everything to the link, the verdict (`result`) included, and resolves when this turn
   * is over: within a second after the verdict, whatever is left of what it started. The rest is handed to the link's
   * `cleanUp`, on an abort too, and the next turn waits for what it needs of it.
   * A failure is a terminal `error` chunk; never rejects.
   */
  send(messages: readonly Message[], link: AgentLink): Promise<void>;
  /** Ends the turn under way; the conversation goes on. */
  interrupt(): Promise<void>;
  setModel(model: string): Promise<void>;
  setPermissionMode(mode: string): Promise<void>;
  /** The agent that answers from the next turn on, of those that the backend itself has. */
  setAgent?(name: string): Promise<void>;
  /** The MCP servers the agent talks to by itself. */
  mcpStatus?(): Promise<readonly McpServerStatus[]>;
  /** Starts what the first turn needs. `false`: nothing can be started before there is a message. */
  warmUp?(): Promise<boolean>;
  readonly sessionId: string | undefined;
  /** Where the session stood after the last run that was kept. `undefined`: none was, or the agent has no such points. */
  readonly point?: string | undefined;
  /**
   * The run that the last turns belong to is over. `false`: it failed or was aborted, and the next turn goes on from
   * where the conversation stood before it. An agent that cannot forget them does not have this member.
   */
  settle?(isKept: boolean): void;
  /** Gives back everything; resolves when no process is left. Idempotent. */
  close(): Promise<void>;
}

/** Which way a run goes, and why. */
export interface Explanation {
  readonly backend: string;
  readonly mode: "plain" | "control" | "http";
  /** What was asked for, by name: `hooks`, `tools`, `permission`, `permission-mode:plan` … */
  readonly features: readonly string[];
  /** Whether a feature makes the control protocol necessary. */
  readonly requiresControl: boolean;
  /** The option that forced the mode, if one did. */
  readonly override: "plain" | "control" | undefined;
  readonly reasons: readonly string[];
  /** Features that this route leaves out. One warning each, or a refusal with `strict`. */
  readonly ignored: readonly string[];
  /** All of it for a person to read. */
  readonly text: string;
}

/** Code that carries out a turn (`model`) or a whole run (`agent`). */
export type Backend = ModelBackend | AgentBackend;
