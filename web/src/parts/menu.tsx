import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export interface MenuEntry {
  readonly label: string;
  readonly isDangerous?: boolean;
  readonly onChoose: () => void;
}

/** A button that opens a list of actions. */
export function Menu({ label, entries }: { readonly label: string; readonly entries: readonly MenuEntry[] }): VNode {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const buttonsOf = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };

  useEffect(() => {
    if (!isOpen) return undefined;
    buttonsOf()[0]?.focus();
    const onPointer = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    const buttons = buttonsOf();
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const wanted = { ArrowDown: at + 1, ArrowUp: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") {
      setOpen(false);
    } else if (wanted !== undefined) {
      event.preventDefault();
      buttons[wanted % buttons.length]?.focus();
    }
  };

  return (
    <div class="menu" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="quiet icon-only"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={label}>
          {entries.map(({ label: name, isDangerous, onChoose }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={isDangerous ? "danger" : undefined}
              onClick={() => {
                close();
                onChoose();
              }}
            >
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
