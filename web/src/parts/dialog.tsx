import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly confirm: string;
  readonly isDangerous?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal question. */
export function Dialog({ title, confirm, isDangerous, onConfirm, onClose, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) onConfirm();
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose} onKeyDown={onKeyDown}>
      <h3 id="dialog-title">{title}</h3>
      <div>{children}</div>
      <div class="dialog-row">
        <button type="button" class="plain" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={isDangerous ? "primary danger" : "primary"} onClick={onConfirm}>
          {confirm}
        </button>
      </div>
    </dialog>
  );
}
