import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { act } from "../act.ts";
import { formatValue } from "../format.ts";
import type { ToolItem } from "../state/items.ts";
import { Icon } from "./icons.tsx";

interface ApprovalProps {
  readonly question: ToolItem;
  /** The number of open questions, including this one. */
  readonly count: number;
  readonly onAnswer: (decision: { allow: boolean; reason?: string }) => Promise<void>;
}

/** Asks whether a tool call may run. The run is paused; the rest of the page stays usable. */
export function Approval({ question, count, onAnswer }: ApprovalProps): VNode {
  const [reason, setReason] = useState("");
  const [isSent, setSent] = useState(false);
  const dialog = useRef<HTMLElement>(null);
  useEffect(() => {
    // Do not take the focus from a person who is writing.
    const { activeElement } = document;
    const isWriting = activeElement instanceof HTMLTextAreaElement && activeElement.value !== "";
    if (!isWriting) dialog.current?.focus({ preventScroll: true });
    return () => {
      // The button that was pressed is gone: without a new place for the focus, the keyboard would start at the top.
      const { activeElement: focused, body } = document;
      if (focused !== null && focused !== body && dialog.current?.contains(focused) === false) return;
      // On a touch screen, the message field would bring up the keyboard.
      const next = matchMedia("(pointer: coarse)").matches ? ".transcript" : ".composer textarea";
      document.querySelector<HTMLElement>(next)?.focus({ preventScroll: true });
    };
  }, []);

  const answer = async (allow: boolean): Promise<void> => {
    if (isSent) return;
    setSent(true);
    await onAnswer(allow || reason.trim() === "" ? { allow } : { allow, reason: reason.trim() });
    setSent(false);
  };
  const input = formatValue(question.input);

  return (
    <section
      class="approval"
      role="alertdialog"
      aria-labelledby="approval-title"
      aria-describedby="approval-why"
      tabIndex={-1}
      ref={dialog}
    >
      <header>
        <Icon name="shield" />
        <h3 id="approval-title">
          Allow <code>{question.name}</code>?
        </h3>
        {count > 1 && <span class="badge">1 of {count}</span>}
      </header>
      <p id="approval-why">{question.question ?? "This tool wants your permission."}</p>
      {input !== "" && <pre tabIndex={0}>{input}</pre>}
      <div class="approval-row">
        <input
          type="text"
          value={reason}
          maxLength={2000}
          placeholder="Reason, if you deny it"
          aria-label="Reason for denying, shown to the model"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="button" class="plain" disabled={isSent} onClick={act(() => answer(false))}>
          Deny
        </button>
        <button type="button" class="primary" disabled={isSent} onClick={act(() => answer(true))}>
          Allow
        </button>
      </div>
    </section>
  );
}
