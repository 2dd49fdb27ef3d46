type Wording = readonly [RegExp, (...found: string[]) => string];

/** Commander's error messages, and our replacements: the field, its value, the remedy. */
const WORDINGS: readonly Wording[] = [
  [/^unknown option '([\s\S]*?)'(?:\n|$)/, (flag) => `There is no option ${flag}. `],
  [/^unknown command '([\s\S]*?)'(?:\n|$)/, (name) => `There is no command "${name}". `],
  [/^missing required argument '(.*?)'$/, (name) => `The argument <${name}> is missing. `],
  [/^option '(.*?)' argument missing$/, (flags) => `${longOf(flags)} has no value. `],
  [/^option '(.*?)' argument '([\s\S]*)' is invalid\. /, (flags, value) => `${nameOf(flags)} is "${value}". `],
  [
    /^command-argument value '([\s\S]*)' is invalid for argument '(.*?)'\. /,
    (value, name) => `The argument <${name}> is "${value}". `,
  ],
  [
    /^option '(.*?)' cannot be used with option '(.*?)'$/,
    (one, other) => `${nameOf(one)} cannot be used with ${nameOf(other)}. Leave one of them out. `,
  ],
  [
    /^too many arguments(?: for '.*?')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (expected, got) => `The command takes ${countOf(expected)}, and ${got} ${got === "1" ? "was" : "were"} given. `,
  ],
];

/**
 * A message of Commander's as a sentence with a remedy.
 *
 * @param command The command it is about, `formats decode`; empty for `millrace` itself.
 */
export function flagMessage(text: string, command: string): string {
  const message = text.replace(/^error: /, "").trimEnd();
  const [found, say] = WORDINGS.find(([wording]) => wording.test(message)) ?? [/^$/, String];
  const sentence = message
    .replace(found, (_, ...groups: unknown[]) => say(...groups.map(String)))
    .replace(/\((Did you mean [^\n]*\?)\)$/, "$1")
    .trimEnd();
  return `${sentence} ${["millrace", command].join(" ").trimEnd()} --help shows what there is.`;
}

const countOf = (count: string): string => `${count === "0" ? "no" : count} argument${Number(count) > 1 ? "s" : ""}`;
const longOf = (flags: string): string => flags.replace(/^-\w, /, "");
const nameOf = (flags: string): string => longOf(flags).replace(/ [<[].*$/, "");
