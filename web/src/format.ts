import type { Usage } from "../../src/domain/index.ts";

const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

function formatCount(count: number): string {
  return COUNT.format(count).toLowerCase();
}

/** What something used, `1.2k in`, `88 out`, `$0.02`, `2.1 s`; unknown values are left out. */
export function factsOf(spent: {
  readonly usage?: Usage | undefined;
  readonly costUsd?: number | undefined;
  readonly ms?: number | undefined;
}): readonly string[] {
  const { usage: { inputTokens, outputTokens } = {}, costUsd, ms } = spent;
  return [
    ...(inputTokens === undefined ? [] : [`${formatCount(inputTokens)} in`]),
    ...(outputTokens === undefined ? [] : [`${formatCount(outputTokens)} out`]),
    ...(costUsd === undefined ? [] : [formatCost(costUsd)]),
    ...(ms === undefined ? [] : [formatDuration(ms)]),
  ];
}

/** Small sums keep two significant digits. */
function formatCost(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A time, as short as possible. */
export function formatWhen(at: number, now: number): string {
  const date = new Date(at);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) {
    return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
  const isThisYear = date.getFullYear() === today.getFullYear();
  return date.toLocaleDateString([], { month: "short", day: "numeric", ...(!isThisYear && { year: "numeric" }) });
}

/** What is waited for: a time, or else `what`. */
export function waitsFor(until: number | undefined, what: string): string {
  return until === undefined ? `Waiting for ${what}` : `Waiting until ${formatMoment(until, Date.now())}`;
}

/** A time to come: the hour, and the day if it is another one. */
export function formatMoment(at: number, now: number): string {
  const hour = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday ? hour : `${formatWhen(at, now)}, ${hour}`;
}

/** The heading of a time in a list: a named day, or a month. */
export function dayOf(at: number, now: number): string {
  const date = new Date(at);
  const today = new Date(now);
  const dayBefore = (days: number): Date => new Date(today.getFullYear(), today.getMonth(), today.getDate() - days);
  if (date >= dayBefore(0)) return "Today";
  if (date >= dayBefore(1)) return "Yesterday";
  if (date >= dayBefore(6)) return "Last 7 days";
  return date.toLocaleDateString("en", { month: "long", year: "numeric" });
}

/** A tool's value as text: strings as they are, content blocks by their text, everything else as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") return showHidden(value);
  if (Array.isArray(value) && value.length > 0 && value.every(isTextBlock)) {
    return showHidden(value.map(({ text }) => text).join("\n"));
  }
  return showHidden(JSON.stringify(value, null, 2) ?? "");
}

// Marks that change the writing direction, control characters and characters that are not shown: with these, what a
// person is asked to allow could look like something else.
const HIDDEN =
  /[\0-\b\v\f\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\udb40-\udb43][\udc00-\udfff]/g;

/** Hidden characters as their number, as JSON would write them: `\u202e`. */
function showHidden(text: string): string {
  return text.replace(HIDDEN, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}

function isTextBlock(value: unknown): value is { text: string } {
  if (typeof value !== "object" || value === null) return false;
  const { type, text } = value as Record<string, unknown>;
  return type === "text" && typeof text === "string";
}

/** The most informative argument of a call, for the head of its card. */
export function summariseInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const [first] = Object.values(input).filter((value) => typeof value === "string" || typeof value === "number");
  const entries = Object.entries(input);
  const isSmall =
    entries.length <= 3 && entries.every(([, value]) => typeof value === "number" || typeof value === "boolean");
  if (isSmall) return showHidden(entries.map(([name, value]) => `${name}: ${value}`).join(", "));
  return first === undefined ? "" : showHidden(String(first).split("\n", 1)[0]?.slice(0, 120) ?? "");
}
