import { InvalidArgumentError } from "commander";
import { nearestName } from "#domain";

/** Parses a whole number above 0. */
export function parseCount(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("Give a whole number above 0.");
}

/** Parses a port; 0 means any free one. */
export function parsePort(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError("Give a port from 0 to 65535.");
}

/** Parses an amount of dollars above 0. */
export function parseDollars(text: string): number {
  const number = Number(text.replace(/^\$/, ""));
  if (/^\$?(?:\d+\.?\d*|\.\d+)$/.test(text) && number > 0) return number;
  throw new InvalidArgumentError("Give an amount in dollars, such as 0.50.");
}

/** Parses a number above 0, or `max`. */
export function parseSpeed(text: string): number {
  const number = text === "max" ? Number.POSITIVE_INFINITY : Number(text);
  if ((text === "max" || /^(?:\d+\.?\d*|\.\d+)$/.test(text)) && number > 0) return number;
  throw new InvalidArgumentError("Give a number above 0 (1 is the recorded speed), or max.");
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** Parses a time into milliseconds: `1500ms`, `30s`, `5m`, `1h`; a number alone is seconds. */
export function parseDuration(text: string): number {
  const found = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|min|m|h)?$/.exec(text);
  const ms = found === null ? 0 : Math.round(Number(found[1]) * (UNITS[found[2] ?? "s"] ?? 0));
  if (ms > 0) return ms;
  throw new InvalidArgumentError("Give a time above 0, such as 500ms, 30s, 5m or 1h.");
}

/** Accepts one of several words; the error for any other names the nearest. */
export function parseChoice<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    const near = nearestName(text, words);
    const guess = near === undefined ? "" : `Did you mean ${near}? `;
    throw new InvalidArgumentError(`${guess}Give one of: ${words.join(", ")}.`);
  };
}

/** Collects the values of a repeated flag. */
export function addText(text: string, before: readonly string[] | undefined): readonly string[] {
  if (text.trim() === "") throw new InvalidArgumentError("It is empty.");
  return [...(before ?? []), text];
}

/** Accepts any text that is not empty. */
export function requireText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It is empty.");
  return text;
}
