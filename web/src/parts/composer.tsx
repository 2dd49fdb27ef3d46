import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { act } from "../act.ts";
import { keepDraft, readDraft } from "../state/storage.ts";
import { Icon } from "./icons.tsx";

interface ComposerProps {
  /** The key of the draft. */
  readonly draftId: string;
  /** The initial text, instead of the draft. */
  readonly suggested?: string | undefined;
  readonly isRunning: boolean;
  /** `false`: the message was not accepted, and the text is restored. */
  readonly onSend: (text: string) => Promise<boolean>;
  readonly onStop: () => void;
  /** Shown next to the button. */
  readonly children?: ComponentChildren;
}

/** The input field: Enter sends, Shift+Enter starts a new line. */
export function Composer({ draftId, suggested, isRunning, onSend, onStop, children }: ComposerProps): VNode {
  const [text, setText] = useState(() => suggested ?? readDraft(draftId));
  const [isSending, setSending] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const isBusy = isRunning || isSending;

  useEffect(() => area.current?.focus({ preventScroll: true }), []);
  useLayoutEffect(() => fit(area.current), [text]);

  // At once: an effect would be too late for a reload.
  const write = (written: string): void => {
    setText(written);
    keepDraft(draftId, written);
  };
  const send = async (): Promise<void> => {
    const wanted = text.trim();
    if (wanted === "" || isBusy) return;
    write("");
    setSending(true);
    const isTaken = await onSend(wanted);
    setSending(false);
    if (!isTaken && area.current?.value === "") write(wanted);
  };
  const onKeyDown = async (event: KeyboardEvent): Promise<void> => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    await send();
  };

  return (
    <div class={children === undefined ? "composer one-row" : "composer"}>
      <textarea
        ref={area}
        rows={1}
        value={text}
        placeholder="Ask something"
        aria-label="Your message"
        aria-keyshortcuts="Enter"
        enterkeyhint="send"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={act(onKeyDown)}
      />
      <div class="composer-row">
        {children !== undefined && <div class="composer-extra">{children}</div>}
        {isRunning ? (
          <button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onClick={onStop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button
            type="button"
            class="round"
            aria-label="Send"
            title="Send (Enter)"
            disabled={text.trim() === "" || isBusy}
            onClick={act(send)}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
    </div>
  );
}

/** As tall as its text, up to the limit in the style sheet. */
function fit(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
