import type { ModelRequest } from "#dialects";
import type { Block, Chunk, McpServerStatus, Message } from "#domain";
import type { RunPolicy } from "#policy";
import type { JsonSchema, SettledOutcome, Tool } from "#tools";

/**
 * Answers one turn; our runner loops.
 *
 * `stream` yields batches of chunks: deltas, then the `message`, then its `tool-call`s, as the formats make them. It
 * never throws: a failure is a terminal `error` chunk, the last one it yields. When the signal is aborted it ends
 * promptly, without an error. It opens nothing before it is iterated, and releases everything when it ends or is left.
 */
export interface ModelBackend {
  readonly kind: "model";
  /** The provider's name: `anthropic`, `openai`, `google`, `openrouter` … */
  readonly name: string;
  readonly model: string;
  /** Parts of a request that this backend cannot pass on. Each one that is requested gives a warning, once. */
  readonly ignores?: readonly ("thinkingTokens" | "temperature" | "toolChoice" | "parallelToolCalls")[];
  /**
   * Whether this model supports structured output for this schema, together with tools if there are any. `true`: pass
   * it as `output`. A string: why it does not; offer a tool instead. Without this member it never does.
   */
  readonly nativeOutput?: (schema: JsonSchema, hasTools: boolean) => true | string;
  /**
   * Why a block of the input cannot be sent, as the end of "… cannot be sent to anthropic: ". `undefined`: it can.
   * Called before a run starts. Without this member every block can be sent.
   */
  readonly cannotSend?: (block: Block) => string | undefined;
  /** `false`: its host sets its own prices, whatever the names of its models are. */
  readonly hasKnownPrices?: boolean;
  /** Keys, passwords and secret headers that it uses. They are hidden in every event of a run, in every form. */
  readonly secrets?: () => readonly string[];
  /**
   * The same backend with another model: same host, key and options. Without this member its model cannot be changed.
   */
  readonly withModel?: (model: string) => ModelBackend;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly Chunk[]>;
}

/** The settings of an agent backend for a whole conversation. */
export interface AgentSettings {
  readonly instructions: string | undefined;
  /** Our own tools; the agent calls them through `AgentLink.runTool`, and callers never see another name for them. */
  readonly tools: readonly Tool[];
  /** Features that the conversation needs and that not every mode has. Known before the first message. */
  readonly features: readonly AgentFeature[];
  readonly outputSchema: JsonSchema | undefined;
  readonly turns: number | undefined;
  readonly costUsd: number | undefined;
  /** Silence that ends a turn. Default 300 000. Not counted while one of our tools, hooks or permissions is running. */
  readonly idleMs?: number | undefined;
  /** The maximum tokens of one reply. */
  readonly maxTokens?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  /** Each chunk keeps the frame it was read from, as `raw`. */
  readonly keepRaw?: boolean | undefined;
  /** The most bytes of one reply (`limits.replyBytes`). A longer one ends the run anyway; this bounds what is read of it. */
  readonly replyBytes?: number | undefined;
  /** How often a model is asked before a failure counts, including the first time. */
  readonly attempts?: number | undefined;
  /** Models to fall back to, by the agent's names for them. */
  readonly fallbackModels?: readonly string[] | undefined;
  readonly resume: Resume | undefined;
  readonly cwd: string | undefined;
  /** Variables for the agent's process in addition to the allowed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Refuse instead of warn if something requested is unavailable. */
  readonly strict: boolean;
}

/** What a caller may require of an agent backend beyond text in, events out. */
export type AgentFeature =
  | "hooks"
  | "tools"
  | "permission"
  | "permission-rules"
  | "guards"
  | "agents"
  | "output"
  | "session";

/** Where a conversation continues. */
export type Resume =
  | {
      readonly kind: "resume";
      readonly sessionId: string;
      readonly fork: boolean;
      /** Continue from this point of the session, not from its end. A `point` of a conversation. */
      readonly at?: string | undefined;
      /** If the session is gone, begin a new one: the messages contain the whole conversation. A notice reports it. */
      readonly orReplay?: boolean | undefined;
    }
  | { readonly kind: "continue"; readonly fork: boolean };

/** The files in which an agent keeps its sessions, so that one can continue in another folder or on another machine. */
export interface SessionFiles {
  /** `undefined` if there is none. `cwd`: the folder the agent worked in, if it is not the backend's own. */
  read(sessionId: string, cwd?: string): Promise<Uint8Array | undefined>;
  /** Creates the file of a session. One that exists stays as it is. */
  write(sessionId: string, data: Uint8Array, cwd?: string): Promise<void>;
}

/** How an agent backend reaches us during one turn of a conversation. */
export interface AgentLink {
  readonly runId: string;
  readonly signal: AbortSignal;
  /** `undefined`: continue. A promise: readers lag; await it before reading more. Never rejects. */
  write(chunks: readonly Chunk[]): Promise<void> | undefined;
  /** Decides about tool calls, ours and the agent's own. */
  readonly policy: RunPolicy;
  /** Our tools that hand off to another agent: rules that do not name them do not apply to them. */
  readonly finalTools?: readonly string[] | undefined;
  /**
   * The whole conversation, including the messages of this turn. An agent that has lost the earlier part, for example
   * with its process, receives this instead of the messages alone. Absent if the messages are everything.
   */
  readonly transcript?: readonly Message[] | undefined;
  /** Nothing is sent after this turn: the agent may end with it, and how it ends belongs to the turn. */
  readonly isLast?: boolean | undefined;
  /**
   * Takes over the clean-up of what the turn started, so that `send` need not wait for it; `run.closed` does. If it is
   * absent, `send` waits itself.
   */
  cleanUp?(work: Promise<unknown>, options?: { readonly maxMs?: number | undefined }): void;
  /** Runs one of our tools with arguments that the policy allowed. Never rejects. */
  runTool(call: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    /** Aborted when the agent cancels this one call. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<SettledOutcome>;
}

/**
 * Carries out a whole run with its own loop, and calls us for tools, permissions and hooks.
 *
 * `open` may start what is needed, or leave it to the first `send`. It rejects with a `StartError` if the agent is
 * unavailable (not installed, too old, or lacks a required feature and `strict` is on).
 */
export interface AgentBackend {
  readonly kind: "agent";
  readonly name: string;
  readonly model: string | undefined;
  /** The provider of its models, for the price of replies whose agent never said what they cost. Default: `name`. */
  readonly provider?: string;
  /** The folder it works in unless its settings name another. */
  readonly cwd?: string | undefined;
  /** It keeps sessions, and `resume` continues one. Without this member it does not. */
  readonly keepsSessions?: boolean;
  /** The files in which it keeps sessions. Without this member a session continues only where it was begun. */
  readonly sessionFiles?: SessionFiles;
  /** Why a block of the input cannot be sent; as for a model. */
  readonly cannotSend?: (block: Block) => string | undefined;
  /** The mode and the reasons for it. Pure. */
  explain(settings: AgentSettings): Explanation;
  /**
   * Why a session cannot use a control, as the end of "… is not available on claude-code: ", with the remedy. `undefined`:
   * it can. Without this member a control is available if the conversation has the method for it.
   */
  readonly cannotControl?: (control: AgentControl, settings: AgentSettings) => string | undefined;
  /**
   * What it needs on this machine and is missing, such as its program, with the remedy. `undefined`: nothing. Starts
   * nothing, and never rejects. Without this member nothing is known to be missing.
   */
  readonly missing?: () => Promise<string | undefined>;
  /** The secrets of starting the agent with these variables. Hidden in every event of a run. */
  readonly secrets?: (env: Readonly<Record<string, string>>) => readonly string[];
  open(settings: AgentSettings): Promise<AgentConversation>;
}

/** What a session may ask of an agent backend besides answering. */
export type AgentControl = "setModel" | "setPermissionMode" | "setAgent" | "mcpStatus" | "warmUp";

/** A live conversation with an agent backend: one turn at a time. */
export interface AgentConversation {
  /**
   * Lets the agent answer. Writes everything to the link, including the verdict (`result`), and resolves when this turn
   * is over: within a second after the verdict, whatever is left of what it started. The rest is passed to the link's
   * `cleanUp`, also on an abort, and the next turn waits for what it needs of it. A failure is a terminal `error`
   * chunk; never rejects.
   */
  send(messages: readonly Message[], link: AgentLink): Promise<void>;
  /** Ends the current turn; the conversation continues. */
  interrupt(): Promise<void>;
  setModel(model: string): Promise<void>;
  setPermissionMode(mode: string): Promise<void>;
  /** Sets the agent that answers from the next turn on, one of the backend's own. */
  setAgent?(name: string): Promise<void>;
  /** The MCP servers that the agent connects to itself. */
  mcpStatus?(): Promise<readonly McpServerStatus[]>;
  /** Starts what the first turn needs. `false`: nothing can be started before there is a message. */
  warmUp?(): Promise<boolean>;
  readonly sessionId: string | undefined;
  /**
   * The point of the session after the last run that was kept. `undefined`: none was, or the agent has no such points.
   */
  readonly point?: string | undefined;
  /**
   * The run of the last turns is over. `false`: it failed or was aborted, and the next turn continues from before it.
   * An agent that cannot forget turns does not have this member.
   */
  settle?(isKept: boolean): void;
  /** Releases everything; resolves when no process is left. Idempotent. */
  close(): Promise<void>;
}

/** The route of a run, and the reasons for it. */
export interface Explanation {
  readonly backend: string;
  readonly mode: "plain" | "control" | "http";
  /** The requested features, by name: `hooks`, `tools`, `permission`, `permission-mode:plan` … */
  readonly features: readonly string[];
  /** Whether a feature requires the control protocol. */
  readonly requiresControl: boolean;
  /** The option that forced the mode, if any. */
  readonly override: "plain" | "control" | undefined;
  readonly reasons: readonly string[];
  /** Features that this route ignores. One warning each, or a refusal with `strict`. */
  readonly ignored: readonly string[];
  /** The whole explanation as text for a person. */
  readonly text: string;
}

/** Code that carries out a turn (`model`) or a whole run (`agent`). */
export type Backend = ModelBackend | AgentBackend;
