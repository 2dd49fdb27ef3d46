import { isRecord } from "#domain";
import { canonicalJson } from "./json-copy.ts";

/** A piece of a call's arguments that rules are held against. */
export interface MatchTarget {
  readonly kind: "command" | "path" | "url" | "text";
  readonly text: string;
}

/** The fields that say what a call is about, with what they hold. */
const MAIN_FIELDS: readonly (readonly [name: string, kind: MatchTarget["kind"]])[] = [
  ["command", "command"],
  ["cmd", "command"],
  ["file_path", "path"],
  ["path", "path"],
  ["notebook_path", "path"],
  ["url", "url"],
  ["query", "text"],
];

/** Tools whose only text is a command, whatever its field is called. */
const SHELL_NAMES = ["bash", "shell", "terminal", "powershell"];

/**
 * What a rule that allows has to fit, all of it: the fields that say what the call is about, else the only text, else
 * everything as JSON. All of these fields, because a model may add one that the tool does not even have, to be judged
 * by that one.
 */
export function targetsToAllow(name: string, input: unknown): readonly MatchTarget[] {
  const main = [...mainTargets(name, input), ...innerTargets(input)];
  if (main.length > 0) return main;
  const texts = textsOf(input);
  const only = texts.length === 1 ? texts[0] : undefined;
  return [only === undefined ? asJson(input) : { kind: kindByName(name), text: only }];
}

/** What a rule that denies or asks has to fit, any of it. The more the better: nothing may be hidden beside another. */
export function targetsToDeny(name: string, input: unknown): readonly MatchTarget[] {
  const main = [...mainTargets(name, input), ...innerTargets(input)];
  if (main.length > 0) return main;
  const kind = kindByName(name);
  return [...textsOf(input).map((text) => ({ kind, text })), asJson(input)];
}

/** Whether a tool looks at everything below the folder it is given. */
export function isSearch(name: string): boolean {
  return /^(?:glob|grep|search|ls)$/i.test(name);
}

function mainTargets(name: string, input: unknown): readonly MatchTarget[] {
  if (!isRecord(input)) return [];
  const found = namedSubjects(input);
  if (!isSearch(name)) return found;
  // Searches begin in the working folder unless told, and a glob is a path of its own.
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
    if (typeof value === "string") return [{ kind, text: value }];
    if (kind === "command" && isTextList(value)) return listedCommand(value);
    return [asJson(value)];
  });
}

/** Fields of lists and of inner objects that hold what a call is about, whatever the tool calls them exactly. */
const INNER_FIELDS: readonly (readonly [name: RegExp, kind: MatchTarget["kind"]])[] = [
  [/^(?:commands?|cmds?)$/i, "command"],
  [/(?:^|_|[a-z](?=[PF]))(?:paths?|files?|filenames?|file_?names?|folders?|director(?:y|ies)|dirs?)$/i, "path"],
  [/^(?:urls?|uris?|links?)$/i, "url"],
];
/** Deeper data, and more of it, is not looked at: what a call is about stands near its top. */
const DEEPEST = 6;
const MOST_INNER = 500;

/**
 * What a call is about that does not stand in a field of its own: `paths: [...]`, `edits: [{ file_path }]`. Without this a
 * rule about a path would hold for a tool that takes one, and for none that takes several.
 */
function innerTargets(input: unknown): readonly MatchTarget[] {
  const found: MatchTarget[] = [];
  const walk = (value: unknown, kind: MatchTarget["kind"] | undefined, depth: number): void => {
    if (depth > DEEPEST || found.length >= MOST_INNER) return;
    if (typeof value === "string") {
      if (kind !== undefined && depth > 1) found.push({ kind, text: value });
    } else if (Array.isArray(value)) {
      for (const one of value) walk(one, kind, depth + 1);
    } else if (isRecord(value)) {
      for (const [name, one] of Object.entries(value)) {
        walk(one, INNER_FIELDS.find(([names]) => names.test(name))?.[1] ?? (depth > 0 ? kind : undefined), depth + 1);
      }
    }
  };
  // A command that is a list of words is one command.
  walk(isRecord(input) ? withoutWordLists(input) : input, undefined, 0);
  return found;
}

function withoutWordLists(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !(/^(?:command|cmd)$/.test(name) && isTextList(value))),
  );
}

/** Some tools take a command as a list of words. Whether a shell puts them together or not cannot be known: both count. */
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

function asJson(value: unknown): MatchTarget {
  return { kind: "text", text: canonicalJson(value) };
}

function kindByName(name: string): MatchTarget["kind"] {
  const lower = name.toLowerCase();
  return SHELL_NAMES.some((shell) => lower.includes(shell)) ? "command" : "text";
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
