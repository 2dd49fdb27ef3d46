import { isRecord } from "#domain";
import { canonicalJson } from "./json-copy.ts";

/** A part of a call's arguments that rules are matched against. */
export interface MatchTarget {
  /** `json`: arguments as a whole. `unread`: arguments that are too many or too deep to be read. */
  readonly kind: "command" | "path" | "url" | "text" | "json" | "unread";
  readonly text: string;
}

/** The fields that say what a call is about, and the kind of each. */
const MAIN_FIELDS: readonly (readonly [name: string, kind: MatchTarget["kind"]])[] = [
  ["command", "command"],
  ["cmd", "command"],
  ["file_path", "path"],
  ["path", "path"],
  ["notebook_path", "path"],
  ["url", "url"],
  ["query", "text"],
];

/** Tools whose only text argument is a command, whatever the field's name. */
const SHELL_NAMES = ["bash", "shell", "terminal", "powershell"];

/**
 * The targets that an allow rule must match, all of them: the fields that say what the call is about; if there are
 * none, the only text; otherwise everything as JSON. All of the fields count, because a model could otherwise add a
 * harmless one that the tool does not have, and be judged by that.
 */
export function targetsToAllow(name: string, input: unknown, json?: string): readonly MatchTarget[] {
  const main = [...mainTargets(name, input), ...innerTargets(input)];
  if (main.length > 0) return [...main, ...otherTargets(input)];
  const texts = textsOf(input);
  const only = texts.length === 1 ? texts[0] : undefined;
  return [only === undefined ? asJson(input, json) : { kind: kindByName(name), text: only }];
}

/**
 * The targets of deny and ask rules; a match with any of them is enough. More targets are safer: a harmless argument
 * must not hide another one.
 */
export function targetsToDeny(name: string, input: unknown, json?: string): readonly MatchTarget[] {
  const main = [...mainTargets(name, input), ...innerTargets(input)];
  const others = otherTargets(input);
  if (main.length > 0) return [...main, ...others];
  const kind = kindByName(name);
  return [...textsOf(input).map((text) => ({ kind, text })), asJson(input, json), ...others];
}

/** Whether a tool searches everything below the folder it is given. */
export function isSearch(name: string): boolean {
  return /^(?:glob|grep|search|ls)$/i.test(name);
}

function mainTargets(name: string, input: unknown): readonly MatchTarget[] {
  if (!isRecord(input)) return [];
  const found = namedSubjects(input);
  if (!isSearch(name)) return found;
  // Searches start in the working folder by default, and a glob is itself a path.
  const folder = found.find(({ kind }) => kind === "path");
  const glob = /^glob$/i.test(name) && typeof input["pattern"] === "string" ? input["pattern"] : undefined;
  if (glob === undefined) return folder === undefined ? [...found, { kind: "path", text: "." }] : found;
  const isWhole = folder === undefined || /^(?:[/\\~]|[A-Za-z]:)/.test(glob);
  return [...found, { kind: "path", text: isWhole ? glob : `${folder.text}/${glob}` }];
}

function namedSubjects(input: Readonly<Record<string, unknown>>): readonly MatchTarget[] {
  return MAIN_FIELDS.flatMap(([name, kind]) => {
    if (!Object.hasOwn(input, name)) return [];
    const value = input[name];
    if (value === null || value === undefined) return [];
    if (typeof value === "string") return readings(kind, value);
    if (kind === "command" && isTextList(value)) return listedCommand(value);
    return [asJson(value)];
  });
}

/** The address of a file is also a path. */
function readings(kind: MatchTarget["kind"], text: string): readonly MatchTarget[] {
  const isFile = kind === "url" && /^\s*file:/i.test(text);
  return isFile
    ? [
        { kind, text },
        { kind: "path", text },
      ]
    : [{ kind, text }];
}

/** Names of fields in lists and nested objects that say what a call is about, in the spellings tools use. */
const INNER_FIELDS: readonly (readonly [name: RegExp, kind: MatchTarget["kind"]])[] = [
  [/^(?:commands?|cmds?)$/i, "command"],
  [
    /(?:^|_|[a-z](?=[PF]))(?:paths?|files?|filenames?|file_?names?|folders?|director(?:y|ies)|dirs?|destinations?)$/i,
    "path",
  ],
  [/^(?:urls?|uris?|links?)$/i, "url"],
];
/** What is deeper, or beyond this number, is not read. A call that has more is not read with certainty. */
const DEEPEST = 64;
const MOST_INNER = 1_000;
/** The same for values of any kind: reading a million of them would block the event loop. */
const MOST_VALUES = 20_000;
const UNREAD: MatchTarget = { kind: "unread", text: "" };

/**
 * The targets that are not in a top-level field: `paths: [...]`, `edits: [{ file_path }]`. Without them, a rule about a
 * path would apply to tools that take one path but not to tools that take several.
 */
function innerTargets(input: unknown): readonly MatchTarget[] {
  const found: MatchTarget[] = [];
  let isWhole = true;
  let values = 0;
  const walk = (value: unknown, kind: MatchTarget["kind"] | undefined, depth: number): void => {
    values += 1;
    isWhole &&= depth <= DEEPEST && found.length <= MOST_INNER && values <= MOST_VALUES;
    if (!isWhole) return;
    if (typeof value === "string") {
      if (kind !== undefined && depth > 1) found.push(...readings(kind, value));
    } else if (Array.isArray(value)) {
      for (let at = 0; isWhole && at < value.length; at += 1) walk(value[at], kind, depth + 1);
    } else if (isRecord(value)) {
      for (const [name, one] of Object.entries(value)) {
        if (!isWhole) return;
        walk(one, kindOfField(name) ?? (depth > 0 ? kind : undefined), depth + 1);
      }
    }
  };
  // A command given as a list of words is one command; `listedCommand` handles it.
  walk(isRecord(input) ? withoutWordLists(input) : input, undefined, 0);
  return isWhole ? found : [UNREAD, ...found];
}

/** Top-level fields that say what a call is about in another spelling than the main ones: `filePath`, `directory`. */
function otherTargets(input: unknown): readonly MatchTarget[] {
  if (!isRecord(input)) return [];
  return Object.entries(input).flatMap(([name, value]) => {
    const kind = MAIN_FIELDS.some(([main]) => main === name) ? undefined : kindOfField(name);
    return kind === undefined || typeof value !== "string" ? [] : readings(kind, value);
  });
}

function kindOfField(name: string): MatchTarget["kind"] | undefined {
  return INNER_FIELDS.find(([names]) => names.test(name))?.[1];
}

function withoutWordLists(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !(/^(?:command|cmd)$/.test(name) && isTextList(value))),
  );
}

/** Some tools take a command as a list of words. It is unknown whether a shell joins them, so both readings count. */
function listedCommand(words: readonly string[]): readonly MatchTarget[] {
  const joined = words.join(" ");
  const quoted = words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  const texts = new Set([joined, quoted.join(" ")]);
  return [...texts].map((text) => ({ kind: "command", text }));
}

function textsOf(input: unknown): readonly string[] {
  if (typeof input === "string") return [input];
  return isRecord(input) ? Object.values(input).filter((value) => typeof value === "string") : [];
}

function asJson(value: unknown, json = canonicalJson(value)): MatchTarget {
  return { kind: "json", text: json };
}

function kindByName(name: string): MatchTarget["kind"] {
  const lower = name.toLowerCase();
  return SHELL_NAMES.some((shell) => lower.includes(shell)) ? "command" : "text";
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
