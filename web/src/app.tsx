import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./parts/icons.tsx";
import { Sidebar } from "./parts/sidebar.tsx";
import { ThreadPage } from "./parts/thread-page.tsx";
import { TokenGate } from "./parts/token-gate.tsx";
import { Welcome } from "./parts/welcome.tsx";
import { useCell } from "./state/cell.ts";
import { ApiFailure } from "./state/http.ts";
import type { Workspace } from "./state/workspace.ts";

/** The page: threads at the side (a drawer on a phone), the open thread in the middle. */
export function App({ workspace }: { readonly workspace: Workspace }): VNode {
  const needsToken = useCell(workspace.needsToken);
  const conversation = useCell(workspace.open);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const isNarrow = useNarrow();
  const isHidden = isNarrow && !isDrawerOpen;

  useEffect(() => {
    setDrawerOpen(false);
    if (conversation === undefined) document.title = "Millrace";
  }, [conversation]);

  if (needsToken) return <TokenGate />;
  const onFailure = (error: unknown): void => {
    if (error instanceof ApiFailure && error.code === "unauthorized") workspace.needsToken.set(true);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !isDrawerOpen) return;
    event.preventDefault();
    setDrawerOpen(false);
  };
  return (
    <div class={isDrawerOpen ? "page drawer-open" : "page"} onKeyDown={onKeyDown}>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the conversation
      </a>
      <aside class="sidebar" id="threads" inert={isHidden}>
        <Sidebar list={workspace.list} openId={conversation?.id} />
      </aside>
      <div class="shade" onClick={() => setDrawerOpen(false)} />
      <div class="content">
        <button
          type="button"
          class="quiet icon-only drawer-button"
          aria-label={isDrawerOpen ? "Close threads" : "Open threads"}
          aria-controls="threads"
          aria-expanded={isDrawerOpen}
          onClick={() => setDrawerOpen(!isDrawerOpen)}
        >
          <Icon name={isDrawerOpen ? "close" : "menu"} />
        </button>
        {conversation === undefined ? (
          <Welcome onChange={workspace.tell} onFailure={onFailure} />
        ) : (
          <ThreadPage
            key={conversation.id}
            conversation={conversation}
            onChange={workspace.tell}
            onRemove={() => {
              workspace.list.remove(conversation.id);
              workspace.tell();
            }}
            onFailure={onFailure}
          />
        )}
      </div>
    </div>
  );
}

/** The hash names the thread, so a link within the page cannot use it and moves the focus instead. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main textarea")?.focus();
}

const NARROW = "(max-width: 800px)";

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = (): void => setNarrow(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return isNarrow;
}
