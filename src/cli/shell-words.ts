/** The options of a run that have a flag of their own. A test holds each against the flags there are. */
export const FLAGS: Readonly<Record<string, string>> = {
  "limits.turns": "--max-turns",
  "limits.costUsd": "--max-cost",
  "limits.replyBytes": "--max-reply-bytes",
  "limits.timeoutMs": "--timeout",
  maxTokens: "--max-tokens",
  thinkingTokens: "--thinking-tokens",
  "session.resume": "--resume",
  "session.continue": "--continue",
  "session.fork": "--fork",
  "permissions.allow": "--allow",
  "permissions.deny": "--deny",
  "permissions.ask": "--ask",
  "claudeCode.executable": "--claude-executable",
  "claudeCode.mode": "--mode",
  "claudeCode.permissionMode": "--permission-mode",
};

/** What is written for programs, and what a person at a shell does instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/Set it, or pass the option \w+: \{ apiKey \}\./g, "Set it in your shell with export."],
  [/^record is /g, "--record is "],
  [/Read plain text with the format "text"/g, "Read plain text with --format text"],
  [/Give the earlier messages as input, or use openSession/g, "Talk with millrace chat instead"],
  [
    /Set permission, listen with run\.on\("permission", …\) and call run\.answer, or name the call in permissions\.allow\./g,
    "Run it in a terminal, where you are asked, or name the call with --allow.",
  ],
];

const OPTION = /\b(?:limits|permissions|session|claudeCode)\.[a-z]\w*(?!["\w])|\b(?:maxTokens|thinkingTokens)\b/g;

/**
 * A message with options named as a person at a shell gives them: by flags, else by fields of the configuration. The
 * messages of runs and start errors speak of options as a program has them.
 *
 * @example
 * shellWords("The run reached limits.turns (1).") // "The run reached --max-turns (1)."
 */
export function shellWords(text: string): string {
  const said = PHRASES.reduce((words, [phrase, instead]) => words.replace(phrase, instead), text);
  return said.replace(OPTION, (option) => {
    if (Object.hasOwn(FLAGS, option)) return FLAGS[option] ?? option;
    // Sessions are opened by programs; there is no field for them.
    if (option.startsWith("session.")) return option;
    return `${option.startsWith("claudeCode.") ? "backends." : ""}${option} of the configuration`;
  });
}
