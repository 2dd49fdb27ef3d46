import { type InputMessage, readInput, type RunInput } from "#agents";
import {
  createRun,
  describeHandle,
  type HandleJson,
  INSPECT,
  type Run,
  type RunHandleOptions,
  type RunWriter,
} from "#run";
import {
  checkOptionNames,
  type McpServerStatus,
  type Message,
  RunError,
  type RunResult,
  type RunStatus,
  StartError,
} from "#domain";
import { callSafely, createDeferred, type Deferred, followSignal, handled } from "#streams";
import type { Conversation } from "./conversation.ts";
import { createWaitingLine } from "./waiting-line.ts";

/**
 * A live conversation: one run at a time, in the order in which they were sent.
 *
 * Every run is an ordinary run: its events start at its turn, it can be aborted before that, and an absent reader does
 * not block others. A run that fails or is aborted leaves the session as it was before its message, and the next one
 * continues from there; `retry` sends that message again.
 *
 * @example
 * await using session = openSession("offline")
 * await session.send("My name is Ada.").result()
 * for await (const text of session.send("What is my name?").text()) process.stdout.write(text)
 */
export interface Session<Output = string> extends AsyncDisposable {
  /** Millrace's own id of the session, known from the beginning. */
  readonly id: string;
  /**
   * Answers the input when all earlier runs have ended. Throws a `StartError`: `session-closed`, or `invalid-input`
   * naming what is wrong with it.
   */
  send(input: RunInput, options?: SendOptions): Run<Output>;
  /**
   * Sends the last message again if its run failed or was aborted. Throws a `StartError` (`invalid-input`) if it
   * succeeded, is still being answered, or nothing was sent yet.
   */
  retry(options?: SendOptions): Run<Output>;
  /**
   * Sets the model of the agent that answers next, for every run that starts afterwards: `"claude-sonnet-4-6"`, or with
   * its provider `"openai/gpt-5"`. Rejects with a `StartError` if there is no such model or the backend does not
   * support it.
   */
  setModel(model: string): Promise<void>;
  /**
   * Sets the permission mode of the Claude Code agent that answers next (`"plan"`, `"acceptEdits"` …), for every run
   * that starts afterwards. Rejects with a `StartError` on backends without such modes.
   */
  setPermissionMode(mode: string): Promise<void>;
  /**
   * Sets the agent that answers every run that starts afterwards: one of the swarm, or one of Claude Code's own
   * (`claudeCode.agents`, `Explore` …). Rejects with a `StartError` if there is no such agent. Without a running
   * process it is unknown whether Claude Code has the agent; then the next run fails and lists the available ones.
   *
   * @example
   * const session = openSession("claude-code", { claudeCode: { agents: { critic: { description: "…", prompt: "…" } } } })
   * await session.setAgent("critic")
   */
  setAgent(name: string): Promise<void>;
  /**
   * The MCP servers that Claude Code uses by itself (`claudeCode.mcpConfig`), and whether they are connected. Starts
   * its process if there is none. Requires control mode. Rejects with a `StartError` on other backends, which have
   * none.
   *
   * @example
   * const session = openSession("claude-code", { claudeCode: { mode: "control", mcpConfig: "/srv/servers.json" } })
   * for (const { name, status } of await session.mcpStatus()) console.log(name, status)
   */
  mcpStatus(): Promise<readonly McpServerStatus[]>;
  /**
   * Starts what the next run needs, so that its answer begins sooner. `true`: the process of Claude Code is running and
   * waits for a message. `false`: nothing can be started before there is one (a model, a command, Claude Code in plain
   * mode, whose program is found and checked). Rejects with a `StartError` if the backend is unavailable.
   *
   * @example
   * const session = openSession("claude-code", { tools: [add] })
   * await session.warmUp()
   */
  warmUp(): Promise<boolean>;
  /** Ends the current run, which is then `aborted`; the session continues with the next. Resolves when it has ended. */
  interrupt(): Promise<void>;
  /** The transcript so far, usable as the input of another run or session. */
  messages(): readonly Message[];
  /**
   * The backend's own id of the conversation. Throws a `RunError` (`session-id-unknown`) until the backend has reported
   * it.
   */
  sessionId(): string;
  /** Used by `JSON.stringify`: `state` is `idle`, `running` or `closed`. */
  toJSON(): HandleJson;
  /**
   * Ends the session: nothing more can be sent, and all unfinished runs end as `aborted`. Resolves when nothing of it
   * is left; rejects if something could not be closed. Idempotent.
   */
  close(): Promise<void>;
}

/** The options of `session.send`. */
export interface SendOptions {
  /** Aborts the run, even while it waits for its turn. */
  readonly signal?: AbortSignal | undefined;
}

/** The seams and settings of a session. */
export interface SessionSeams
  extends Pick<RunHandleOptions, "clock" | "random" | "onListenerError" | "onCleanUpFailure" | "secrets" | "nextTurn"> {
  readonly id?: string | undefined;
  /** A description of the target, shown when the session or one of its runs is printed. */
  readonly target?: string | undefined;
  readonly runLimits?: RunHandleOptions["limits"] | undefined;
  /** Rejects an input by throwing a `StartError`. */
  readonly checkInput?: ((input: readonly Message[]) => void) | undefined;
  /** Called with every new run, before any of its events. */
  readonly onRun?: ((run: Run<unknown>) => void) | undefined;
  /** Called with the number of waiting runs, whenever one was sent. */
  readonly onQueueLength?: ((waiting: number) => void) | undefined;
}

/** One run of a session, waiting or active. */
interface Sent {
  readonly input: readonly Message[];
  /** The transcript before it, filled in at its turn. */
  readonly history: Message[];
  readonly itsTurn: Deferred<void>;
  isStarted: boolean;
  readonly run: Run<unknown>;
  /** Set when its end is awaited: from then on no reader of it can block the session. */
  end: Promise<void> | undefined;
}

/** Creates a session over a conversation. */
export function createSession<Output = string>(conversation: Conversation, seams: SessionSeams): Session<Output> {
  const { clock, random, onListenerError } = seams;
  let closing: Promise<void> | undefined;
  /** The last message that was sent, and its outcome. */
  let last: { readonly input: RunInput; readonly id: string; status?: RunStatus } | undefined;

  const queue = createWaitingLine<Sent>((sent) => {
    sent.itsTurn.resolve();
    hurry();
  });

  /** If later runs are waiting, a slow reader must not hold up the active one. */
  const hurry = (): void => {
    const { active } = queue;
    if (active !== undefined && queue.waiting > 0) active.end ??= active.run.done();
  };

  const carryOut = async (sent: Sent, writer: RunWriter): Promise<void> => {
    const unfollow = followSignal(writer.signal, () => sent.itsTurn.resolve());
    await sent.itsTurn.promise;
    unfollow();
    if (writer.signal.aborted) return;
    sent.isStarted = true;
    sent.history.push(...conversation.messages(), ...sent.input.slice(0, -1));
    await conversation.turn(sent.input, writer);
  };

  const noteEnd = (sent: Sent, result: RunResult): void => {
    if (last?.id === sent.run.id) last.status = result.status;
    try {
      if (sent.isStarted) conversation.note(result);
    } finally {
      queue.leave(sent);
    }
  };

  const send = (input: RunInput, options: SendOptions = {}): Run<Output> => {
    checkOpen();
    checkSendOptions(options);
    const id = random.id();
    const messages = readTurnInput(input, id);
    seams.checkInput?.(messages);
    last = { input, id };
    const history: Message[] = [];
    const run: Run<Output> = createRun<Output>((writer) => carryOut(sent, writer), {
      id,
      target: seams.target,
      clock,
      random,
      onListenerError,
      onCleanUpFailure: seams.onCleanUpFailure,
      history,
      signal: options.signal,
      secrets: seams.secrets,
      nextTurn: seams.nextTurn,
      ...(seams.runLimits !== undefined && { limits: seams.runLimits }),
    });
    const sent: Sent = {
      input: messages,
      history,
      itsTurn: createDeferred<void>(),
      isStarted: false,
      run,
      end: undefined,
    };
    run.once("done", (event) => noteEnd(sent, event.result));
    queue.enter(sent);
    hurry();
    notify(() => seams.onRun?.(run));
    notify(() => seams.onQueueLength?.(queue.waiting));
    return run;
  };

  const retry = (options: SendOptions = {}): Run<Output> => {
    checkOpen();
    checkSendOptions(options);
    if (last === undefined) throw new StartError("invalid-input", "There is nothing to retry: nothing was sent yet.");
    if (last.status === undefined) {
      const remedy = "Wait for its end, or end it with interrupt().";
      throw new StartError(
        "invalid-input",
        `There is nothing to retry: the last message is still being answered. ${remedy}`,
      );
    }
    if (last.status !== "success") return send(last.input, options);
    throw new StartError("invalid-input", "There is nothing to retry: the last message was answered. Use send().");
  };

  /** Calls an observer; its failure affects nothing else. */
  const notify = (listener: () => void): void => callSafely(listener, onListenerError);

  const checkOpen = (): void => {
    if (queue.isClosed) throw new StartError("session-closed", "The session is closed. Open another one.");
  };

  const change = async (what: string, value: string, carry: (value: string) => Promise<void>): Promise<void> => {
    checkOpen();
    if (typeof value === "string" && value.trim() !== "") return carry(value);
    throw new StartError("invalid-option", `The ${what} is ${JSON.stringify(value)}. Give its name.`);
  };

  const shutDown = async (): Promise<void> => {
    const reason = "The session was closed.";
    const { active } = queue;
    const ends = queue.close().map((sent) => sent.run.abort(reason));
    if (active !== undefined) ends.push(active.run.abort(reason));
    // Both at once: closing also ends a turn that ignores the abort.
    const closed = handled(closeSafely(conversation));
    await Promise.all(ends);
    await closed;
  };

  const close = (): Promise<void> => (closing ??= handled(shutDown()));
  const sessionId = seams.id ?? random.id();
  const stateOf = (): string => (queue.isClosed ? "closed" : queue.active === undefined ? "idle" : "running");

  const session: Session<Output> = {
    id: sessionId,
    send,
    retry,
    setModel: (model) => change("model", model, (name) => conversation.setModel(name)),
    setPermissionMode: (mode) => change("permission mode", mode, (name) => conversation.setPermissionMode(name)),
    setAgent: (agent) => change("agent", agent, (name) => conversation.setAgent(name)),
    async mcpStatus() {
      checkOpen();
      return conversation.mcpStatus();
    },
    async warmUp() {
      checkOpen();
      return conversation.warmUp();
    },
    interrupt: async () => queue.active?.run.abort("The turn was interrupted."),
    messages: () => conversation.messages(),
    sessionId() {
      const { sessionId } = conversation;
      if (sessionId !== undefined) return sessionId;
      throw new RunError(
        "session-id-unknown",
        "The backend has not reported a session id. Wait for the 'start' event; a model has none: resume it from messages().",
      );
    },
    toJSON: () => ({ id: sessionId, target: seams.target, state: stateOf() }),
    close,
    [Symbol.asyncDispose]: close,
  };
  const inspect = (): string => describeHandle("Session", session.toJSON());
  return Object.defineProperty(session, INSPECT, { value: inspect });
}

/** Turns an exception into a rejection. */
async function closeSafely(conversation: Conversation): Promise<void> {
  await conversation.close();
}

function checkSendOptions(options: SendOptions): void {
  checkOptionNames(options, ["signal"] satisfies (keyof SendOptions)[], "a message");
}

/**
 * Reads the input of a session. Messages without an id get one that is unique in the conversation, including an earlier
 * session from which it was resumed.
 *
 * @throws StartError `invalid-input` naming what is wrong with it.
 */
function readTurnInput(input: RunInput, runId: string): readonly Message[] {
  if (!Array.isArray(input)) return readInput(input).map((message) => ({ ...message, id: `${runId}-input` }));
  return readInput(input.map((message: InputMessage, index) => nameMessage(message, `${runId}-input-${index + 1}`)));
}

function nameMessage(message: InputMessage, id: string): InputMessage {
  if (typeof message !== "object" || message === null || message.id !== undefined) return message;
  return { ...message, id };
}
