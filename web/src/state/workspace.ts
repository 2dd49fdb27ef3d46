import { api } from "./api.ts";
import { type Cell, createCell } from "./cell.ts";
import { type Conversation, isRunning, openConversation } from "./conversation.ts";
import { follow } from "./follow.ts";
import { ApiFailure } from "./http.ts";
import { readRoute } from "./route.ts";
import { storageKey } from "./storage.ts";
import { createThreadList, type ThreadList } from "./thread-list.ts";

/** How often a visible page polls for changes made elsewhere. Tabs of one browser notify each other at once. */
const POLL_MS = 4000;

/** The state of the page: the list, the open thread, and what keeps both up to date. */
export interface Workspace {
  readonly list: ThreadList;
  readonly open: Cell<Conversation | undefined>;
  /** The server requires a token. */
  readonly needsToken: Cell<boolean>;
  /** Something was changed here: notifies the list and the other tabs. */
  tell(): void;
}

export function createWorkspace(): Workspace {
  const needsToken = createCell(false);
  const open = createCell<Conversation | undefined>(undefined);
  const channel = new BroadcastChannel(storageKey("changes"));
  const onFailure = (error: unknown): void => {
    if (error instanceof ApiFailure && error.code === "unauthorized") needsToken.set(true);
  };
  const list = createThreadList(api, onFailure);

  const tell = (): void => {
    channel.postMessage("changed");
    list.refresh().catch(onFailure);
  };

  const refresh = async (): Promise<void> => {
    if (needsToken.get()) return;
    const conversation = open.get();
    const idle = conversation !== undefined && !isRunning(conversation.state.get()) ? conversation : undefined;
    await list.refresh();
    if (idle !== undefined && hasMoved(idle)) await idle.refresh();
  };

  /** Whether the list has another state of the open thread than the page, or does not contain it. */
  const hasMoved = (conversation: Conversation): boolean => {
    const { phase, thread, pending } = conversation.state.get();
    if (phase !== "ready" || thread === undefined || pending !== undefined) return true;
    const listed = list.state.get().threads.find(({ id }) => id === conversation.id);
    return listed === undefined || listed.updatedAt !== thread.updatedAt || listed.runId !== thread.runId;
  };

  const navigate = (): void => {
    const id = readRoute(location.hash);
    const current = open.get();
    if (current?.id === id) return;
    current?.close();
    const next = id === undefined ? undefined : openConversation(id, { api, follow, onChange: tell, onFailure });
    open.set(next);
    next?.refresh().catch(onFailure);
  };

  const refreshNow = (): void => {
    refresh().catch(onFailure);
  };
  channel.addEventListener("message", () => {
    list.refresh().catch(onFailure);
    open.get()?.refresh().catch(onFailure);
  });
  addEventListener("hashchange", navigate);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refreshNow();
  });
  setInterval(() => {
    if (!document.hidden) refreshNow();
  }, POLL_MS);
  navigate();
  list.refresh().catch(onFailure);
  return { list, open, needsToken, tell };
}
