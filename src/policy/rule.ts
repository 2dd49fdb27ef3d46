import { StartError } from "#domain";
import { type Glob, matchesAll, parseGlob } from "./matcher.ts";

/** A parsed permission rule. */
export interface Rule {
  /** As written by the caller. */
  readonly text: string;
  /** The tool, or a pattern for several. */
  readonly name: Glob;
  /** The arguments it is about; matching one pattern is enough. `undefined`: any arguments. */
  readonly scope: RuleScope | undefined;
}

export type RuleScope =
  | { readonly kind: "text"; readonly patterns: readonly Glob[] }
  /** `domain:example.com`, as in Claude Code: the host of a URL and its subdomains. */
  | { readonly kind: "domain"; readonly host: Glob };

const NAME = /^[A-Za-z0-9_.:/*-]{1,128}$/;
const LONGEST_RULE = 2_000;
const MCP_SERVER = /^mcp__[^_*]+(?:_[^_*]+)*$/;

/**
 * Parses a rule: `Name` or `Name(pattern)`; in both, `*` matches any text, including the empty one. `Name(git:*)` is
 * `git` with or without arguments. `mcp__server` means all tools of that server.
 *
 * @throws StartError `invalid-option` with the rule and the remedy.
 * @example
 * parseRule("Bash(git *)")
 */
export function parseRule(text: string): Rule {
  if (typeof text !== "string") throw invalid(String(text), 'Write it as a string such as "Bash" or "Bash(git *)"');
  if (text.length > LONGEST_RULE) throw invalid(text, `Use at most ${LONGEST_RULE} characters`);
  const open = text.indexOf("(");
  const name = open === -1 ? text : text.slice(0, open);
  if (!NAME.test(name)) {
    throw invalid(
      text,
      'Begin with the name of a tool (letters, digits, _ . : / - and * for any), such as "Bash(git *)"',
    );
  }
  if (open === -1) return { text, name: parseName(name), scope: undefined };
  if (!text.endsWith(")")) throw invalid(text, `Close the bracket at the end: "${text})"`);
  const pattern = text.slice(open + 1, -1).trim();
  if (pattern === "") {
    throw invalid(text, `Leave the brackets out ("${name}") to mean all arguments, or write a pattern between them`);
  }
  return { text, name: parseName(name), scope: parseScope(pattern) };
}

function parseName(name: string): Glob {
  // `mcp__server` means the same as `mcp__server__*`; no tool has `mcp__server` as its own name.
  return parseGlob(MCP_SERVER.test(name) ? `${name}__*` : name);
}

function parseScope(pattern: string): RuleScope | undefined {
  if (pattern.startsWith("domain:")) {
    return { kind: "domain", host: parseGlob(pattern.slice("domain:".length).toLowerCase()) };
  }
  const prefix = pattern.endsWith(":*") ? pattern.slice(0, -2) : undefined;
  if (prefix !== undefined && prefix !== "") {
    return { kind: "text", patterns: [parseGlob(prefix), parseGlob(`${prefix} *`)] };
  }
  const glob = parseGlob(pattern);
  return matchesAll(glob) || pattern === ":*" ? undefined : { kind: "text", patterns: [glob] };
}

function invalid(rule: string, remedy: string): StartError {
  const shown = rule.length > 80 ? `${rule.slice(0, 79)}…` : rule;
  return new StartError("invalid-option", `The permission rule ${JSON.stringify(shown)} cannot be read. ${remedy}.`);
}
