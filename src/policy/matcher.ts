/** A pattern in which `*` matches any text, including the empty one. Everything else is literal and case-sensitive. */
export type Glob = readonly string[];

/** Parses a pattern. Every string is a valid one. */
export function parseGlob(pattern: string): Glob {
  return pattern.split("*");
}

/** Whether a pattern matches every text. */
export function matchesAll(glob: Glob): boolean {
  return glob.length > 1 && glob.every((piece) => piece === "");
}

/**
 * Whether the whole text matches the pattern. Goes through the text once, without backtracking: each piece between two
 * `*` is matched at its first occurrence, which leaves the most text for the rest.
 */
export function matchesGlob(glob: Glob, text: string): boolean {
  const first = glob[0] ?? "";
  if (glob.length === 1) return text === first;
  const last = glob.at(-1) ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (let piece = 1; piece < glob.length - 1; piece += 1) {
    const wanted = glob[piece] ?? "";
    const found = text.indexOf(wanted, at);
    if (found === -1 || found + wanted.length > end) return false;
    at = found + wanted.length;
  }
  return true;
}

/** Whether some text matches both patterns. */
export function patternsMeet(one: Glob, other: Glob): boolean {
  if (one.length === 1) return matchesGlob(other, one[0] ?? "");
  if (other.length === 1) return matchesGlob(one, other[0] ?? "");
  // The pieces between the ends can always be placed one after the other, so only the ends decide.
  const [start, otherStart] = [one[0] ?? "", other[0] ?? ""];
  const [end, otherEnd] = [one.at(-1) ?? "", other.at(-1) ?? ""];
  return (
    (start.startsWith(otherStart) || otherStart.startsWith(start)) && (end.endsWith(otherEnd) || otherEnd.endsWith(end))
  );
}

/**
 * Matches the names of the tools that a hook or a guard applies to: a name, several (`"Bash|Read"`), or patterns
 * (`"mcp__*"`). Only whole names match. `undefined` matches all.
 */
export function createNameMatcher(names: string | undefined): (name: string) => boolean {
  if (names === undefined || names.trim() === "") return () => true;
  const globs = names.split("|").map((name) => parseGlob(name.trim()));
  return (name) => globs.some((glob) => matchesGlob(glob, name));
}
