import { isSecretHeader, MASK } from "#secrets";

/** How many characters of both texts are shown around a difference. */
const SHOWN = 40;

/**
 * The first difference between the recorded text and the one sent now; `undefined` if there is none. A mask matches any
 * character.
 */
export function findTextDifference(recorded: string, sent: string): string | undefined {
  if (recorded === sent) return undefined;
  const length = Math.min(recorded.length, sent.length);
  for (let index = 0; index < length; index += 1) {
    const mark = recorded.charAt(index);
    if (mark !== sent.charAt(index) && mark !== MASK) return describe(recorded, sent, index);
  }
  return recorded.length === sent.length ? undefined : describe(recorded, sent, length);
}

function describe(recorded: string, sent: string, index: number): string {
  const cut = (text: string): string => {
    if (index >= text.length) return "nothing more";
    return JSON.stringify(text.slice(Math.max(0, index - SHOWN), index + SHOWN));
  };
  return `at character ${index} the tape has ${cut(recorded)}, and now there is ${cut(sent)}`;
}

/** Headers that identify the sender and do not affect the request. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(["user-agent", "content-length", "host", "date"]);

/** The same for headers. For a secret, only the name has to match. */
export function findHeaderDifference(
  recorded: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string>>,
): string | undefined {
  const before = comparedHeaders(recorded);
  const now = comparedHeaders(sent);
  for (const [name, value] of before) {
    const given = now.get(name);
    if (given === undefined) return `the header ${name} is missing now`;
    const difference = isSecretHeader(name) ? undefined : findTextDifference(value, given);
    if (difference !== undefined) return `header ${name}: ${difference}`;
  }
  for (const name of now.keys()) if (!before.has(name)) return `the header ${name} is new`;
  return undefined;
}

/** The headers that are compared, by lower-case names. */
export function comparedHeaders(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!IGNORED_HEADERS.has(name.toLowerCase())) named.set(name.toLowerCase(), value);
  }
  return named;
}
