import type { AgentEvent, Message } from "../../../src/domain/index.ts";
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
  /** The node that works on it, if several share the work. */
  readonly node: string | undefined;
  /** The earlier runs, oldest first, whose events are loaded. Older ones are shown by their messages. */
  readonly earlier: readonly EarlierRun[];
  /** The sent text, until the server has it. */
  readonly pending: string | undefined;
  readonly isLost: boolean;
  /** Why the person's last action failed. */
  readonly failure: string | undefined;
}

export interface EarlierRun {
  readonly id: string;
  readonly view: RunView;
}

/** One thread on the page: its state and its actions. */
export interface Conversation {
  readonly id: string;
  readonly state: Cell<ConversationState>;
  /** `false`: the message was not accepted, and `failure` contains the reason. */
  send(text: string): Promise<boolean>;
  stop(): Promise<void>;
  answer(callId: string, decision: { allow: boolean; reason?: string }): Promise<void>;
  /** Loads the state from the server; also follows a run that another tab started. */
  refresh(): Promise<void>;
  dismissFailure(): void;
  close(): void;
}

export interface ConversationParts {
  readonly api: Pick<Api, "conversation" | "run" | "chat" | "abort" | "answer">;
  readonly follow: Follow;
  /** Something changed that affects other tabs and the list of threads. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** The number of earlier runs whose events are loaded. Older ones are shown by their messages. */
const MOST_EARLIER = 50;

const GONE =
  "This thread is no longer there: it may have been deleted. Copy your message, and begin a new thread with it.";

const START: ConversationState = {
  phase: "loading",
  thread: undefined,
  messages: [],
  runId: undefined,
  run: EMPTY_RUN,
  node: undefined,
  earlier: [],
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
  const views = new Map<string, RunView>();
  let isLoading = false;

  const fail = (error: unknown): void => {
    onFailure(error);
    change({ failure: error instanceof Error ? error.message : String(error) });
  };

  /** It is not important enough for a message if this fails. */
  const lookUpNode = (runId: string, signal: AbortSignal): void => {
    api.run(runId).then(
      ({ node }) => {
        if (!signal.aborted) change({ node });
      },
      () => undefined,
    );
  };

  const followRun = async ({ id: runId, status }: RunSummary, signal: AbortSignal): Promise<void> => {
    // A finished run is shown by its stored messages until all its events are loaded, so that it is not typed again.
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
          if (isLive && view.status === "running" && events.some(beginsWork)) lookUpNode(runId, signal);
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

  /** Shows the runs whose events are loaded, from the latest one back to the first that is missing. */
  const showEarlier = (ids: readonly string[]): void => {
    const missing = ids.findIndex((runId) => !views.has(runId));
    const shown = missing === -1 ? ids : ids.slice(0, missing);
    const earlier = shown.map((runId) => ({ id: runId, view: views.get(runId) ?? EMPTY_RUN })).reverse();
    if (earlier.length !== state.get().earlier.length || earlier.at(-1)?.id !== state.get().earlier.at(-1)?.id) {
      change({ earlier });
    }
  };

  /** Loads the events of earlier runs, one run after the other, the latest first. */
  const loadEarlier = async (ids: readonly string[]): Promise<void> => {
    showEarlier(ids);
    if (isLoading) return;
    isLoading = true;
    try {
      for (const runId of ids) {
        if (views.has(runId)) continue;
        let view = EMPTY_RUN;
        await follow({
          runId,
          signal: closing.signal,
          cursor: () => view.seq,
          onConnection: () => undefined,
          onEvents: (events) => (view = reduceRunAll(view, events)),
        });
        if (closing.signal.aborted) return;
        views.set(runId, view);
        showEarlier(ids);
      }
    } finally {
      isLoading = false;
    }
  };

  const refresh = async (): Promise<void> => {
    const turn = ++asked;
    try {
      const { thread, messages, runs } = await api.conversation(id);
      if (turn !== asked || closing.signal.aborted) return;
      const [latest] = runs;
      const isNew = latest !== undefined && latest.id !== state.get().runId;
      const { runId: before, run } = state.get();
      if (isNew && before !== undefined && run.seq !== -1 && run.status !== "running") views.set(before, run);
      change({ phase: "ready", thread, messages, ...(isNew && begunBy(latest)) });
      // If events were deleted (retention), the messages remain.
      loadEarlier(runs.slice(1, MOST_EARLIER + 1).map(({ id: runId }) => runId)).catch(() => undefined);
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
        const isGone = error instanceof ApiFailure && error.status === 404;
        fail(isGone ? new ApiFailure(error.code, error.status, GONE) : error);
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
  return { runId: id, run, node: undefined, pending: undefined, isLost: false };
}

/** A node has begun to work on the run, or has taken it over. */
function beginsWork(event: AgentEvent): boolean {
  return event.type === "start" || (event.type === "notice" && event.kind === "resumed");
}

export function isRunning({ runId, run, pending }: ConversationState): boolean {
  return pending !== undefined || (runId !== undefined && run.status === "running");
}

/** Calls that wait for a person's decision. */
export function openQuestions({ run }: ConversationState): readonly ToolItem[] {
  if (run.status !== "running") return [];
  return run.items.filter((item): item is ToolItem => item.kind === "tool" && item.state === "asked");
}

/**
 * The call whose result has to come before the run goes on, if all of the open ones wait outside of it: the next with a
 * time, or any.
 */
export function parkedCall({ run }: ConversationState): ToolItem | undefined {
  if (run.status !== "running") return undefined;
  const open = run.items.filter((item): item is ToolItem => item.kind === "tool" && item.state !== "done");
  if (open.some(({ state }) => state !== "parked")) return undefined;
  const [next] = open.toSorted((one, other) => (one.until ?? Infinity) - (other.until ?? Infinity));
  return next;
}

/** One row of the conversation: an item, or the summary of a whole run. */
export type ShownRow = { readonly key: string; readonly item: Item } | { readonly key: string; readonly run: RunView };

/** All rows of the conversation, in order, without the summary of the latest run, which may still be active. */
export function shownRows({ run, earlier, pending }: ConversationState, history: readonly Item[]): readonly ShownRow[] {
  const rowsOf = (items: readonly Item[]): readonly ShownRow[] => items.map((item) => ({ key: item.key, item }));
  const sent: readonly Item[] = pending === undefined ? [] : [{ kind: "user", key: "pending", text: pending }];
  return [
    ...rowsOf(history),
    ...earlier.flatMap(({ id, view }) => [...rowsOf(view.items), { key: `end-of-${id}`, run: view }]),
    ...rowsOf(run.items),
    ...rowsOf(sent),
  ];
}

/** The items before the runs whose events are loaded. */
export function historyOf({ messages, run, earlier }: ConversationState): readonly Item[] {
  const inputs = [...earlier.map(({ view }) => view.inputId), run.inputId];
  return itemsOf(messagesBefore(messages, inputs));
}
