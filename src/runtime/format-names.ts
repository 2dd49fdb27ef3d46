import { nearestName, StartError } from "#domain";

/**
 * The built-in formats, each with its other names. Names alone, so that one can be checked without loading the formats:
 * those that are data have a parser of their own, and few runs read one.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "claude-code": ["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"],
  "anthropic-messages": [],
  "openai-chat": [],
  gemini: [],
  ndjson: [],
  text: [],
};

/**
 * The name of the built-in format that is called so.
 *
 * @throws StartError `unknown-format`, as a registry does.
 */
export function requireFormatName(name: string): string {
  const entries = Object.entries(NAMES);
  const found = entries.find(([own, aliases]) => own === name || aliases.includes(name));
  if (found !== undefined) return found[0];
  const known = entries.flatMap(([own, aliases]) => [own, ...aliases]);
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 57)}...` : name);
  throw new StartError("unknown-format", `format: ${shown} is not registered.${hint} Known: ${known.join(", ")}.`);
}
