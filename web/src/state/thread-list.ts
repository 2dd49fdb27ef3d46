import type { Api, Thread } from "./api.ts";
import { type Cell, createCell } from "./cell.ts";

export interface ThreadListState {
  readonly phase: "loading" | "ready" | "unreachable";
  readonly search: string;
  readonly threads: readonly Thread[];
  readonly hasMore: boolean;
}

/** The list of threads: the latest first, with a search in their content. */
export interface ThreadList {
  readonly state: Cell<ThreadListState>;
  search(text: string): Promise<void>;
  showMore(): Promise<void>;
  refresh(): Promise<void>;
  /** Removes a deleted thread from the list at once, before the server is asked again. */
  remove(id: string): void;
}

const PAGE = 50;

export function createThreadList(api: Pick<Api, "threads">, onFailure: (error: unknown) => void): ThreadList {
  const state = createCell<ThreadListState>({ phase: "loading", search: "", threads: [], hasMore: false });
  let wanted = PAGE;
  let asked = 0;

  const refresh = async (): Promise<void> => {
    const turn = ++asked;
    const { search } = state.get();
    try {
      const { threads, next } = await load(api, search, wanted);
      // A slower answer to an earlier request is ignored.
      if (turn !== asked) return;
      state.set({ phase: "ready", search, threads, hasMore: next !== undefined });
    } catch (error) {
      onFailure(error);
      if (turn === asked) state.set({ ...state.get(), phase: "unreachable" });
    }
  };

  return {
    state,
    refresh,
    remove(id) {
      // An answer that is on its way may still contain it.
      asked += 1;
      const now = state.get();
      state.set({ ...now, threads: now.threads.filter((thread) => thread.id !== id) });
    },
    async search(text) {
      wanted = PAGE;
      state.set({ ...state.get(), search: text });
      await refresh();
    },
    async showMore() {
      wanted += PAGE;
      await refresh();
    },
  };
}

async function load(
  api: Pick<Api, "threads">,
  search: string,
  wanted: number,
): Promise<{ threads: readonly Thread[]; next: string | undefined }> {
  const threads: Thread[] = [];
  let next: string | undefined;
  do {
    const page = await api.threads(search, PAGE, next);
    threads.push(...page.threads);
    next = page.next;
  } while (next !== undefined && threads.length < wanted);
  return { threads, next };
}
