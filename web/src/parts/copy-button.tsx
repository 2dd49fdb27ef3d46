import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { act } from "../act.ts";
import { Icon } from "./icons.tsx";

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }): VNode {
  const [said, say] = useState<"" | "Copied" | "Not copied">("");
  useEffect(() => {
    if (said === "") return undefined;
    const timer = setTimeout(() => say(""), 1600);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => say((await copyText(text())) ? "Copied" : "Not copied");
  return (
    <button type="button" class="quiet small" aria-label={said || label} title={label} onClick={act(copy)}>
      <Icon name={said === "Copied" ? "check" : "copy"} />
      <span class="button-word" aria-live="polite">
        {said || "Copy"}
      </span>
    </button>
  );
}

/** Over plain HTTP from another machine browsers have no clipboard API; a selection can be copied even so. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
