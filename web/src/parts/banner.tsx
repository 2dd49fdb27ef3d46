import type { VNode } from "preact";
import { Icon } from "./icons.tsx";

interface BannerProps {
  readonly level: "error" | "info";
  readonly text: string;
  readonly onDismiss?: () => void;
}

export function Banner({ level, text, onDismiss }: BannerProps): VNode {
  return (
    <div class={`banner ${level}`} role={level === "error" ? "alert" : "status"}>
      {level === "info" ? <span class="spinner" /> : <Icon name="error" />}
      <span>{text}</span>
      {onDismiss !== undefined && (
        <button type="button" class="quiet icon-only" aria-label="Dismiss" onClick={onDismiss}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
