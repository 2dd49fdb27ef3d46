import { isRecord, parseJson } from "#wire";

/** One place where what is sent now differs from what was recorded. Both sides as short texts. */
export interface PathDifference {
  /** The place within the request: `body.messages[0].content`, `argument 7`, `header x-team`. */
  readonly path: string;
  readonly recorded: string;
  readonly sent: string;
}

/** How many characters of a long text are shown before and after its first difference. */
const SHOWN_BEFORE = 30;
const SHOWN_AFTER = 50;
const NOTHING = "nothing";
const DEEPEST = 200;
/** A run of stars masks a secret, whose length may differ today. */
const COVER = /\*{4,}/;

/**
 * Every place where two texts differ. JSON is compared by value, so the order of keys does not matter; anything else is
 * compared as text.
 */
export function compareTexts(path: string, recorded: string, sent: string): readonly PathDifference[] {
  if (recorded === sent) return [];
  const before = parseJson(recorded);
  const now = parseJson(sent);
  if (before.fault === undefined && now.fault === undefined && isTree(before.value) && isTree(now.value)) {
    const found: PathDifference[] = [];
    compareValues(path, before.value, now.value, { found, depth: 0 });
    return found;
  }
  return fits(recorded, sent) ? [] : [showTexts(path, recorded, sent)];
}

/** Compares two texts that are not JSON, or not to be read as such. */
export function comparePlain(path: string, recorded: string, sent: string): readonly PathDifference[] {
  return fits(recorded, sent) ? [] : [showTexts(path, recorded, sent)];
}

/** Something that exists on one side only. */
export function oneSided(path: string, recorded: string | undefined, sent: string | undefined): PathDifference {
  return {
    path,
    recorded: recorded === undefined ? NOTHING : cut(JSON.stringify(recorded)),
    sent: sent === undefined ? NOTHING : cut(JSON.stringify(sent)),
  };
}

interface Walk {
  readonly found: PathDifference[];
  readonly depth: number;
}

function compareValues(path: string, recorded: unknown, sent: unknown, walk: Walk): void {
  if (recorded === sent) return;
  const deeper = { found: walk.found, depth: walk.depth + 1 };
  if (walk.depth < DEEPEST && Array.isArray(recorded) && Array.isArray(sent)) {
    for (let index = 0; index < Math.max(recorded.length, sent.length); index += 1) {
      compareValues(`${path}[${index}]`, recorded[index], sent[index], deeper);
    }
  } else if (walk.depth < DEEPEST && isRecord(recorded) && isRecord(sent)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(sent)])) {
      compareValues(`${path}.${name}`, own(recorded, name), own(sent, name), deeper);
    }
  } else if (typeof recorded === "string" && typeof sent === "string") {
    if (!fits(recorded, sent)) walk.found.push(showTexts(path, recorded, sent));
  } else if (JSON.stringify(recorded) !== JSON.stringify(sent)) {
    walk.found.push({ path, recorded: show(recorded), sent: show(sent) });
  }
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function isTree(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Whether the texts are equal, apart from masked secrets on either side. */
function fits(recorded: string, sent: string): boolean {
  return recorded === sent || fitsCover(recorded, sent) || fitsCover(sent, recorded);
}

/**
 * Whether the text equals the masked one with anything in place of its masks. Linear: each part is searched for once.
 */
function fitsCover(covered: string, text: string): boolean {
  if (!COVER.test(covered)) return false;
  const parts = covered.split(COVER);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** Both texts around the first character that differs. */
function showTexts(path: string, recorded: string, sent: string): PathDifference {
  let at = 0;
  while (at < recorded.length && recorded.charAt(at) === sent.charAt(at)) at += 1;
  return { path, recorded: around(recorded, at), sent: around(sent, at) };
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - SHOWN_BEFORE);
  const until = at + SHOWN_AFTER;
  return JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, until)}${until < text.length ? "…" : ""}`);
}

function show(value: unknown): string {
  return value === undefined ? NOTHING : cut(JSON.stringify(value));
}

function cut(text: string): string {
  const longest = SHOWN_BEFORE + SHOWN_AFTER;
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** A recorded action that was not performed yet, and how the current one differs from it. */
interface Pick<Entry> {
  readonly entry: Entry;
  readonly differences: readonly PathDifference[];
}

/** How many of the remaining entries are compared; more than this are not in progress at the same time. */
const LOOKED_AT = 16;

/**
 * Picks the recorded action that is meant: the first without differences, otherwise the one with the fewest.
 * Simultaneous actions may come in another order than they were recorded in.
 */
export function pickNearest<Entry>(
  left: Entry[],
  compare: (entry: Entry) => readonly PathDifference[],
): Pick<Entry> | undefined {
  let best: (Pick<Entry> & { readonly at: number }) | undefined;
  for (const [at, entry] of left.slice(0, LOOKED_AT).entries()) {
    const differences = compare(entry);
    if (best === undefined || differences.length < best.differences.length) best = { entry, differences, at };
    if (differences.length === 0) break;
  }
  if (best !== undefined) left.splice(best.at, 1);
  return best;
}
