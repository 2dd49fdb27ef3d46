import type { Message } from "../../../src/domain/index.ts";
import type { Api, RunSummary, Thread } from "./api.ts";
import { createCell, type Cell } from "./cell.ts";
import type { Follow } from "./follow.ts";
import { itemsOf, messagesBefore } from "./history.ts";
import { ApiFailure } from "./http.ts";
import type { Item, ToolItem } from "./items.ts";
import { EMPTY_RUN, reduceRunAll, type RunView } from "./run-view.ts";

export interface ConversationState {
  readonly phase: "loading" | "ready" | "missing" | "unreachable";
  readonly thread: Thread | undefined;
  readonly messages: readonly Message[];
  readonly runId: string | undefined;
  /** The latest run, from its events. */
  readonly run: RunView;
  /** What was sent, until the server has it. */
  readonly pending: string | undefined;
  readonly isLost: boolean;
  /** What went wrong with the last thing the person did. */
  readonly failure: string | undefined;
}

/** One thread on the page: what is in it, and what can be done with it. */
export interface Conversation {
  readonly id: string;
  readonly state: Cell<ConversationState>;
  /** `false`: it was not taken, and `failure` says why. */
  send(text: string): Promise<boolean>;
  stop(): Promise<void>;
  answer(callId: string, decision: { allow: boolean; reason?: string }): Promise<void>;
  /** Asks the server what it has; a run that another tab began is followed from here too. */
  refresh(): Promise<void>;
  dismissFailure(): void;
  close(): void;
}

export interface ConversationParts {
  readonly api: Pick<Api, "conversation" | "chat" | "abort" | "answer">;
  readonly follow: Follow;
  /** Something changed that other tabs and the list of threads should know. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

const START: ConversationState = {
  phase: "loading",
  thread: undefined,
  messages: [],
  runId: undefined,
  run: EMPTY_RUN,
  pending: undefined,
  isLost: false,
  failure: undefined,
};

export function openConversation(id: string, { api, follow, onChange, onFailure }: ConversationParts): Conversation {
  const state = createCell(START);
  const change = (fields: Partial<ConversationState>): void => state.set({ ...state.get(), ...fields });
  const closing = new AbortController();
  let following = new AbortController();
  let asked = 0;

  const fail = (error: unknown): void => {
    onFailure(error);
    change({ failure: error instanceof Error ? error.message : String(error) });
  };

  const followRun = async ({ id: runId, status }: RunSummary, signal: AbortSignal): Promise<void> => {
    // Of a run that is over the stored messages are shown until all of its events are here: nothing is typed again.
    const isLive = status === "running";
    let view = EMPTY_RUN;
    try {
      await follow({
        runId,
        signal,
        cursor: () => view.seq,
        onConnection: (isLost) => change({ isLost }),
        onEvents(events) {
          if (signal.aborted) return;
          view = reduceRunAll(view, events);
          if (isLive || view.status !== "running") change({ run: view });
        },
      });
    } catch (error) {
      if (!signal.aborted) fail(error);
      return;
    }
    if (signal.aborted || !isLive) return;
    onChange();
    await refresh();
  };

  const refresh = async (): Promise<void> => {
    const turn = ++asked;
    try {
      const { thread, messages, runs } = await api.conversation(id);
      if (turn !== asked || closing.signal.aborted) return;
      const [latest] = runs;
      const isNew = latest !== undefined && latest.id !== state.get().runId;
      change({ phase: "ready", thread, messages, ...(isNew && begunBy(latest)) });
      if (!isNew) return;
      following.abort();
      following = new AbortController();
      followRun(latest, AbortSignal.any([following.signal, closing.signal])).catch(fail);
    } catch (error) {
      onFailure(error);
      if (turn !== asked || closing.signal.aborted) return;
      if (error instanceof ApiFailure && error.status === 404) change({ phase: "missing" });
      else if (state.get().phase === "loading") change({ phase: "unreachable" });
    }
  };

  return {
    id,
    state,
    refresh,
    async send(text) {
      change({ pending: text, failure: undefined });
      try {
        await api.chat(id, text);
      } catch (error) {
        change({ pending: undefined });
        fail(error);
        return false;
      }
      onChange();
      await refresh();
      return true;
    },
    async stop() {
      const { runId } = state.get();
      if (runId !== undefined) await api.abort(runId).catch(fail);
    },
    async answer(callId, decision) {
      const { runId } = state.get();
      if (runId !== undefined) await api.answer(runId, callId, decision).catch(fail);
    },
    dismissFailure: () => change({ failure: undefined }),
    close: () => closing.abort(),
  };
}

function begunBy({ id, status }: RunSummary): Partial<ConversationState> {
  const run = status === "running" ? EMPTY_RUN : { ...EMPTY_RUN, status: "success" as const };
  return { runId: id, run, pending: undefined, isLost: false };
}

export function isRunning({ runId, run, pending }: ConversationState): boolean {
  return pending !== undefined || (runId !== undefined && run.status === "running");
}

/** Calls that wait for somebody to decide. */
export function openQuestions({ run }: ConversationState): readonly ToolItem[] {
  if (run.status !== "running") return [];
  return run.items.filter((item): item is ToolItem => item.kind === "tool" && item.state === "asked");
}

/** Everything in the conversation, in order. */
export function shownItems({ run, pending }: ConversationState, history: readonly Item[]): readonly Item[] {
  const all = [...history, ...run.items];
  return pending === undefined ? all : [...all, { kind: "user", key: "pending", text: pending }];
}

/** What stands before the latest run. */
export function historyOf({ messages, run }: ConversationState): readonly Item[] {
  return itemsOf(messagesBefore(messages, run.inputId));
}
