import { type McpServerStatus, type Message, type RunResult, StartError } from "#domain";
import type { RunWriter } from "#run";

/**
 * What a session talks to: the same interface for a model, which forgets everything between two turns, and for an
 * agent, which is a running process.
 *
 * The session starts one turn at a time. Only a turn that was aborted and did not end within the run's grace period may
 * still be active when the next one begins; it cannot write into the next one, because its writer is closed.
 */
export interface Conversation {
  /**
   * Gets the input answered. Writes everything to the writer, including the verdict (`result`), and settles when the
   * turn has ended. After the writer's signal has fired, it gives the turn up and settles soon, in a way that lets the
   * conversation continue. A rejection is a terminal error of the run.
   */
  turn(input: readonly Message[], writer: RunWriter): Promise<void>;
  /**
   * A run whose turn had begun has ended: adds the relevant part of it to the transcript. Called before the next turn
   * begins.
   */
  note(result: RunResult): void;
  /** Applies to every turn that begins afterwards. Rejects with a `StartError` if there is no such model. */
  setModel(model: string): Promise<void>;
  /** Applies to every turn that begins afterwards. Rejects with a `StartError` if there is no such mode. */
  setPermissionMode(mode: string): Promise<void>;
  /** Applies to every turn that begins afterwards. Rejects with a `StartError` if there is no such agent. */
  setAgent(name: string): Promise<void>;
  /** The MCP servers of the backend that answers next. Rejects with a `StartError` if it has none. */
  mcpStatus(): Promise<readonly McpServerStatus[]>;
  /** Starts what the next turn needs. `false`: nothing can be started before there is a message. */
  warmUp(): Promise<boolean>;
  /** The backend's own id of the conversation, once known. */
  readonly sessionId: string | undefined;
  /** The transcript so far: complete, and usable as the input of another conversation. */
  messages(): readonly Message[];
  /** Releases everything; settles when nothing is left. Called once, directly after the current turn was aborted. */
  close(): Promise<void>;
}

/** The error for a control that a session does not support. `reason` ends with the remedy. */
export function refuseControl(control: string, backend: string, reason: string): StartError {
  return new StartError("feature-unavailable", `${control} is not available on ${backend}: ${reason}.`);
}
