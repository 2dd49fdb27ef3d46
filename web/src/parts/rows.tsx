import type { VNode } from "preact";
import { Markdown } from "../markdown/markdown.tsx";
import type { HandoffRow, NoteItem, TextItem, UserItem } from "../state/items.ts";
import { Icon } from "./icons.tsx";

export function UserRow({ item }: { readonly item: UserItem }): VNode {
  return (
    <article class="user" aria-label="You">
      <p>{item.text}</p>
    </article>
  );
}

export function TextRow({ item }: { readonly item: TextItem }): VNode {
  const { text, isOpen, agent, parent } = item;
  return (
    <article
      class={`answer${isOpen ? " open" : ""}${parent === undefined ? "" : " nested"}`}
      aria-label={agent === undefined ? "Answer" : `Answer of ${agent}`}
    >
      <Markdown text={text} isOpen={isOpen} />
    </article>
  );
}

export function ThinkingRow({ item }: { readonly item: TextItem }): VNode {
  return (
    <details class={`thinking${item.parent === undefined ? "" : " nested"}`}>
      <summary>
        <Icon name="chevron" />
        <span class={item.isOpen ? "shimmer" : undefined}>{item.isOpen ? "Thinking …" : "Thought"}</span>
      </summary>
      <div class="thinking-text">{item.text}</div>
    </details>
  );
}

export function HandoffLine({ item }: { readonly item: HandoffRow }): VNode {
  return (
    <div class="handoff">
      <Icon name="handoff" />
      <span>
        {item.from === undefined ? "Handed over to " : `${item.from} handed over to `}
        <strong>{item.to}</strong>
      </span>
      <span class="handoff-message">{item.message}</span>
    </div>
  );
}

export function NoteRow({ item }: { readonly item: NoteItem }): VNode {
  const { level, title, text, advice } = item;
  if (level === "info" && title === "") return <p class="remark">{text}</p>;
  return (
    <section class={`note ${level}`} role={level === "error" ? "alert" : "note"}>
      <Icon name={level === "error" ? "error" : level === "warning" ? "warning" : "stop"} />
      <div>
        <h4>{title}</h4>
        <p class="note-text">{text}</p>
        {advice?.hint !== undefined && <p class="hint">{advice.hint}</p>}
        {advice !== undefined && advice.steps.length > 0 && (
          <>
            <h5>{advice.isForOperator ? "What the operator of this server can do" : "What you can do"}</h5>
            <ul>
              {advice.steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ul>
          </>
        )}
        {advice?.seen !== undefined && (
          <details>
            <summary>What was seen</summary>
            <pre tabIndex={0}>{advice.seen}</pre>
          </details>
        )}
      </div>
    </section>
  );
}
