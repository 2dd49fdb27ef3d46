import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { keepTheme, nextTheme, readTheme, type Theme } from "../state/theme.ts";
import { Icon, type IconName } from "./icons.tsx";

const ICONS: Readonly<Record<Theme, IconName>> = { system: "system", light: "sun", dark: "moon" };

/** Cycles through system, light and dark. */
export function ThemeButton(): VNode {
  const [theme, setTheme] = useState(readTheme);
  const change = (): void => {
    const next = nextTheme(theme);
    keepTheme(next);
    setTheme(next);
  };
  return (
    <button
      type="button"
      class="quiet icon-only"
      aria-label={`Colours: ${theme}`}
      title={`Colours: ${theme}`}
      onClick={change}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
