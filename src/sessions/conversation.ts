import type { RunWriter } from "#agents";
import type { McpServerStatus, Message, RunResult } from "#domain";

/**
 * What a session talks to: the same for a model, which forgets everything between two turns, and for an agent, which is
 * a living process.
 *
 * The session gives one turn at a time. Only a turn that was aborted and did not come back within the run's grace may
 * still be under way when the next one begins; such a turn must not write into it, and cannot: its writer is closed.
 */
export interface Conversation {
  /**
   * Has the other side answer. Writes everything to the writer, the verdict (`result`) included, and settles when the
   * turn is over. After the writer's signal has fired it gives the turn up and settles soon, in a way that lets the
   * conversation go on. A rejection is a terminal error of the run.
   */
  turn(input: readonly Message[], writer: RunWriter): Promise<void>;
  /** A run whose turn had begun is over: what of it belongs into the transcript. Called before the next turn begins. */
  note(result: RunResult): void;
  /** Holds for every turn that begins afterwards. Rejects with a `StartError` when there is no such model. */
  setModel(model: string): Promise<void>;
  /** Holds for every turn that begins afterwards. Rejects with a `StartError` when there is no such mode. */
  setPermissionMode(mode: string): Promise<void>;
  /** Holds for every turn that begins afterwards. Rejects with a `StartError` when there is no such agent. */
  setAgent(name: string): Promise<void>;
  /** The tool servers of the backend that answers next. Rejects with a `StartError` when it has none. */
  mcpStatus(): Promise<readonly McpServerStatus[]>;
  /** Starts what the next turn needs. `false`: nothing can be started before there is a message. */
  warmUp(): Promise<boolean>;
  /** The backend's own name for the conversation, once it is known. */
  readonly sessionId: string | undefined;
  /** The transcript so far: complete, and fit to be the input of another conversation. */
  messages(): readonly Message[];
  /** Gives back everything; settles when nothing is left. Called once, when the turn under way was just aborted. */
  close(): Promise<void>;
}
