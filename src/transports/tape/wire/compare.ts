import { isRecord, parseJson } from "#wire";

/** One place in which what is sent now is not what was recorded. Both as short texts. */
export interface PlaceDifference {
  /** Where, within the request: `body.messages[0].content`, `argument 7`, `header x-team`. */
  readonly path: string;
  readonly recorded: string;
  readonly sent: string;
}

/** So much of a long text is shown before and behind its first difference. */
const SHOWN_BEFORE = 30;
const SHOWN_BEHIND = 50;
const NOTHING = "nothing";
const DEEPEST = 200;
/** So many stars in a row cover a secret, whose length may be another one today. */
const COVER = /\*{4,}/;

/**
 * Every place in which two texts differ. JSON is compared as values, so that the order of keys does not matter; anything
 * else as text.
 */
export function compareTexts(path: string, recorded: string, sent: string): readonly PlaceDifference[] {
  if (recorded === sent) return [];
  const before = parseJson(recorded);
  const now = parseJson(sent);
  if (before.fault === undefined && now.fault === undefined && isTree(before.value) && isTree(now.value)) {
    const found: PlaceDifference[] = [];
    compareValues(path, before.value, now.value, { found, depth: 0 });
    return found;
  }
  return fits(recorded, sent) ? [] : [showTexts(path, recorded, sent)];
}

/** Two texts that are no JSON, or not to be read as such. */
export function comparePlain(path: string, recorded: string, sent: string): readonly PlaceDifference[] {
  return fits(recorded, sent) ? [] : [showTexts(path, recorded, sent)];
}

/** Something that is there on one side only. */
export function oneSided(path: string, recorded: string | undefined, sent: string | undefined): PlaceDifference {
  return {
    path,
    recorded: recorded === undefined ? NOTHING : cut(JSON.stringify(recorded)),
    sent: sent === undefined ? NOTHING : cut(JSON.stringify(sent)),
  };
}

interface Walk {
  readonly found: PlaceDifference[];
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

/** The same text, or the same but for what covers a secret on either side. */
function fits(recorded: string, sent: string): boolean {
  return recorded === sent || fitsCover(recorded, sent) || fitsCover(sent, recorded);
}

/** Whether the text is the covered one with anything in the place of its covers. Linear: each part is looked for once. */
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
function showTexts(path: string, recorded: string, sent: string): PlaceDifference {
  let at = 0;
  while (at < recorded.length && recorded.charAt(at) === sent.charAt(at)) at += 1;
  return { path, recorded: around(recorded, at), sent: around(sent, at) };
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - SHOWN_BEFORE);
  const until = at + SHOWN_BEHIND;
  return JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, until)}${until < text.length ? "…" : ""}`);
}

function show(value: unknown): string {
  return value === undefined ? NOTHING : cut(JSON.stringify(value));
}

function cut(text: string): string {
  const longest = SHOWN_BEFORE + SHOWN_BEHIND;
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
