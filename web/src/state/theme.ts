/** The person's choice; `system` follows the machine's setting. */
export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const PLACE = "millrace-theme";

export function readTheme(): Theme {
  const kept = localStorage.getItem(PLACE);
  return THEMES.find((theme) => theme === kept) ?? "system";
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(PLACE, theme);
  showTheme(theme);
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
}
