import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  type ConversationState,
  historyOf,
  isRunning,
  openQuestions,
  parkedCall,
  shownRows,
} from "../state/conversation.ts";
import { waitsFor } from "../format.ts";
import type { Item } from "../state/items.ts";
import type { RunView } from "../state/run-view.ts";
import { Icon } from "./icons.tsx";
import { ReportRow } from "./report-row.tsx";
import { HandoffLine, NoteRow, TextRow, ThinkingRow, UserRow } from "./rows.tsx";
import { RunFooter } from "./run-footer.tsx";
import { ToolCard } from "./tool-card.tsx";

/** The distance from the end within which the view keeps following. */
const NEAR_PX = 80;

/** The conversation. The view stays at its end as it grows, until the reader scrolls away. */
export function Transcript({ state }: { readonly state: ConversationState }): VNode {
  const running = isRunning(state);
  const history = useMemo(() => historyOf(state), [state.messages, state.earlier, state.run.inputId]);
  const rows = shownRows(state, history);
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isAway, setAway] = useState(false);

  const toEnd = (): void => {
    follows.current = true;
    setAway(false);
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (follows.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  });
  useLayoutEffect(() => {
    if (state.pending !== undefined) toEnd();
  }, [state.pending]);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
    follows.current = distance < NEAR_PX;
    setAway(distance > NEAR_PX * 3);
  };

  return (
    <div class="transcript-frame">
      <div class="transcript" ref={box} onScroll={onScroll} tabIndex={-1}>
        <div class="column" role="log" aria-label="Conversation" aria-live="polite" aria-busy={running}>
          {rows.map((row) =>
            "run" in row ? (
              <EarlierFooter key={row.key} run={row.run} />
            ) : (
              <Row key={row.key} item={row.item} isStopped={!running} />
            ),
          )}
        </div>
        <div class="column">
          <RunFooter run={state.run} isRunning={running} node={state.node} waiting={waitOf(state)} />
        </div>
      </div>
      {isAway && (
        <button type="button" class="to-end" onClick={toEnd}>
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  );
}

/** What the run waits for; `undefined` while it works. */
function waitOf(state: ConversationState): string | undefined {
  if (openQuestions(state).length > 0) return "Waiting for your answer";
  const parked = parkedCall(state);
  return parked === undefined ? undefined : waitsFor(parked.until, `the result of ${parked.name}`);
}

function EarlierFooter({ run }: { readonly run: RunView }): ComponentChildren {
  return useMemo(() => <RunFooter run={run} isRunning={false} isEarlier />, [run]);
}

function Row({ item, isStopped }: { readonly item: Item; readonly isStopped: boolean }): ComponentChildren {
  // The same item in the same state is not rendered again.
  return useMemo(() => drawItem(item, isStopped), [item, item.kind === "tool" && isStopped]);
}

function drawItem(item: Item, isStopped: boolean): VNode {
  switch (item.kind) {
    case "user":
      return <UserRow item={item} />;
    case "text":
      return <TextRow item={item} />;
    case "thinking":
      return <ThinkingRow item={item} />;
    case "tool":
      return <ToolCard tool={item} isStopped={isStopped} />;
    case "handoff":
      return <HandoffLine item={item} />;
    case "report":
      return <ReportRow item={item} />;
    case "note":
      return <NoteRow item={item} />;
  }
}
