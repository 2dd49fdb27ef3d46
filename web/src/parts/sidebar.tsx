import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { act } from "../act.ts";
import { dayOf } from "../format.ts";
import type { Thread } from "../state/api.ts";
import { useCell } from "../state/cell.ts";
import { routeOf } from "../state/route.ts";
import type { ThreadList, ThreadListState } from "../state/thread-list.ts";
import { Icon } from "./icons.tsx";
import { ThemeButton } from "./theme-button.tsx";
import { When } from "./when.tsx";

const TYPING_PAUSE_MS = 150;

/** The list of threads, with a search in their content. */
export function Sidebar({ list, openId }: { readonly list: ThreadList; readonly openId: string | undefined }): VNode {
  const state = useCell(list.state);
  const nav = useRef<HTMLElement>(null);
  const linksOf = (): HTMLElement[] => [...(nav.current?.querySelectorAll<HTMLElement>("a.thread") ?? [])];

  const onKeyDown = (event: KeyboardEvent): void => {
    const links = linksOf();
    const at = links.indexOf(document.activeElement as HTMLElement);
    const wanted = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (wanted === undefined || at === -1) return;
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, wanted))]?.focus();
  };

  return (
    <>
      <header class="brand">
        <img src="./icon.svg" alt="" width={28} height={28} />
        <span>Millrace</span>
        <ThemeButton />
      </header>
      <a class="new-thread" href="#/">
        <Icon name="plus" /> New thread
      </a>
      <Search list={list} onDown={() => linksOf()[0]?.focus()} />
      <nav ref={nav} aria-label="Threads" onKeyDown={onKeyDown}>
        <Rows state={state} openId={openId} />
        {state.hasMore && (
          <button type="button" class="quiet" onClick={act(() => list.showMore())}>
            Show more
          </button>
        )}
      </nav>
    </>
  );
}

function Search({ list, onDown }: { readonly list: ThreadList; readonly onDown: () => void }): VNode {
  const [text, setText] = useState("");
  useEffect(() => {
    if (text === list.state.get().search) return undefined;
    const timer = setTimeout(() => {
      list.search(text).catch(() => undefined);
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      onDown();
    }
    if (event.key === "Escape" && text !== "") {
      event.stopPropagation();
      setText("");
    }
  };
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        value={text}
        maxLength={200}
        placeholder="Search"
        aria-label="Search threads"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  );
}

function Rows({ state, openId }: { readonly state: ThreadListState; readonly openId: string | undefined }): VNode {
  const { phase, threads, search } = state;
  if (phase === "unreachable" && threads.length === 0) return <p class="faint">The server cannot be reached.</p>;
  if (phase === "ready" && threads.length === 0) {
    return <p class="faint">{search === "" ? "No threads yet." : "Nothing found."}</p>;
  }
  const now = Date.now();
  const days = new Map<string, Thread[]>();
  for (const thread of threads) {
    const day = dayOf(thread.updatedAt, now);
    days.set(day, [...(days.get(day) ?? []), thread]);
  }
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={day}>
          <h2 class="day">{day}</h2>
          <ul>
            {ofDay.map((thread) => (
              <li key={thread.id}>
                <ThreadLink thread={thread} isOpen={thread.id === openId} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function ThreadLink({ thread, isOpen }: { readonly thread: Thread; readonly isOpen: boolean }): VNode {
  return (
    <a class="thread" href={routeOf(thread.id)} aria-current={isOpen ? "page" : undefined}>
      <span class="thread-title">{thread.title || "New thread"}</span>
      <span class="thread-facts">
        <span>{thread.target}</span>
        {thread.runId === undefined ? (
          <When at={thread.updatedAt} />
        ) : (
          <span class="live" role="img" aria-label="not finished" />
        )}
      </span>
    </a>
  );
}
