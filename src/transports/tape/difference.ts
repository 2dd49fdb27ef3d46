import { isSecretHeader, MASK } from "#secrets";

/** So much of both texts is shown around a difference. */
const SHOWN = 40;

/** What differs between what was recorded and what is sent now; `undefined` when nothing does. A mask fits anything. */
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

/** Headers that say who asks, not what is asked. */
const UNTOLD = new Set(["user-agent", "content-length", "host"]);

/** The same for headers. Of a secret only the name has to be the same. */
export function findHeaderDifference(
  recorded: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string>>,
): string | undefined {
  const before = byName(recorded);
  const now = byName(sent);
  for (const [name, value] of before) {
    const given = now.get(name);
    if (given === undefined) return `the header ${name} is missing now`;
    const difference = isSecretHeader(name) ? undefined : findTextDifference(value, given);
    if (difference !== undefined) return `header ${name}: ${difference}`;
  }
  for (const name of now.keys()) if (!before.has(name)) return `the header ${name} is new`;
  return undefined;
}

function byName(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!UNTOLD.has(name.toLowerCase())) named.set(name.toLowerCase(), value);
  }
  return named;
}
