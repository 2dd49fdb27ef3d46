/**
 * The reader of a message: a person at a shell, or a person on the chat page of a server that may be run by someone
 * else.
 */
export type Reader = "shell" | "page";

type Words = Readonly<Record<Reader, string>>;

/**
 * The options that messages name, and what a reader has instead: a command line flag, or a description of the setting.
 * A test compares the flags with those that exist.
 */
export const OPTION_WORDS: Readonly<Record<string, Words>> = {
  "limits.turns": { shell: "--max-turns", page: "the limit of turns" },
  "limits.costUsd": { shell: "--max-cost", page: "the limit of costs" },
  "limits.replyBytes": { shell: "--max-reply-bytes", page: "the limit of an answer's length" },
  "limits.timeoutMs": { shell: "--timeout", page: "the time limit" },
  "limits.handoffs": { shell: inConfiguration("limits.handoffs"), page: "the limit of handoffs" },
  "limits.tokens": { shell: inConfiguration("limits.tokens"), page: "the limit of tokens" },
  "limits.idleMs": { shell: inConfiguration("limits.idleMs"), page: "the limit of silence" },
  maxTokens: { shell: "--max-tokens", page: "the limit of output tokens" },
  thinkingTokens: { shell: "--thinking-tokens", page: "the limit of thinking tokens" },
  "session.resume": { shell: "--resume", page: "the session to resume" },
  "session.continue": { shell: "--continue", page: "the session to go on with" },
  "session.fork": { shell: "--fork", page: "the fork of a session" },
  "permissions.allow": { shell: "--allow", page: "the rules that allow calls" },
  "permissions.deny": { shell: "--deny", page: "the rules that deny calls" },
  "permissions.ask": { shell: "--ask", page: "the rules that ask about calls" },
  "claudeCode.executable": { shell: "--claude-executable", page: "the path of the Claude Code CLI" },
  "claudeCode.mode": { shell: "--mode", page: "the mode of Claude Code" },
  "claudeCode.maxTurns": { shell: inConfiguration("claudeCode.maxTurns"), page: "the limit of turns" },
  "claudeCode.maxBudgetUsd": { shell: inConfiguration("claudeCode.maxBudgetUsd"), page: "the limit of costs" },
  "claudeCode.permissionMode": { shell: "--permission-mode", page: "the permission mode of Claude Code" },
};

const OPERATOR = "the operator of this server";

/**
 * Advice written for programs, and the equivalent for a person. If a reader has no entry, the wording fits as it is.
 */
const PHRASES: readonly (readonly [RegExp, Partial<Words>])[] = [
  // Limits.
  [
    /Raise it, or let fewer agents hand over to each other\./g,
    { page: `Ask for less in one message, or ask ${OPERATOR} to raise it.` },
  ],
  [/Raise it, or give the agent less to do in one run\./g, { page: askOrRaise("Ask for less in one message") }],
  [/Raise it, or use a cheaper model\./g, { page: askOrRaise("Choose a cheaper model") }],
  [/Raise it, or send and ask for less text\./g, { page: askOrRaise("Send and ask for less text") }],
  [
    /(?:Raise it|Set maxTokens higher), or ask for a shorter answer\./g,
    { page: askOrRaise("Ask for a shorter answer") },
  ],
  [
    /, which maxTokens does not change\. Shorten the conversation, or use a model with a larger context\./g,
    { page: ". Begin a new thread, or choose a model with a larger context." },
  ],
  [
    /Try again, ask another backend \(fallback\), or allow more time \(limits\.idleMs\)\./g,
    { page: `Try again, choose another model, or ask ${OPERATOR} to allow more time.` },
  ],
  [
    /Try again, or raise it if answers may take this long\.|Ask again; raise limits\.idleMs if answers may take this long\./g,
    { page: `Try again, or ask ${OPERATOR} to allow more time.` },
  ],
  [/Raise limits\.idleMs if it may take this long\./g, { page: `Ask ${OPERATOR} to allow more time.` }],
  [
    /Describe the fields in the schema, simplify it, or allow more repairs \(output: \{ schema, repairs \}\)\./g,
    {
      shell: "Describe the fields in the schema, or simplify it.",
      page: `Ask again, or tell ${OPERATOR} that the schema is too hard for this model.`,
    },
  ],
  [
    /, or set replay: \{ tape, onDifference: "warn" \} to go on with the recorded answers\./g,
    { shell: ", or go on with the recorded answers with --on-difference warn." },
  ],
  // Missing settings.
  [
    /Set it, or pass the option \w+: \{ apiKey \}\.( Without a key the backend "offline" works\.)?/g,
    {
      shell: "Set it in your shell with export.$1",
      page: `Ask ${OPERATOR} to set it, or choose another model.`,
    },
  ],
  [
    /Install it with (npm install -g \S+), or set executable to its path\./g,
    {
      shell: "Install it with $1, or give its path with --claude-executable.",
      page: `Ask ${OPERATOR} to install it ($1).`,
    },
  ],
  [
    /Correct claudeCode\.executable, or leave it out to search PATH\./g,
    { page: `Ask ${OPERATOR} to correct the path.` },
  ],
  [
    /Check ANTHROPIC_API_KEY, or run claude in a terminal and log in\./g,
    { page: `Ask ${OPERATOR} to check ANTHROPIC_API_KEY, or to run claude in a terminal and log in.` },
  ],
  [/\bMake room, and ask again\./g, { page: `Ask ${OPERATOR} to make room, and ask again.` }],
  [/\bask another (?:backend|model)\b/g, { page: "choose another model" }],
  [/Wait, or raise the limit there\./g, { page: "Wait a while, and ask again." }],
  [
    /The prompt is empty\. Give the model something to do\./g,
    { shell: 'The prompt is empty. Write it after the command, such as millrace run "What is 25 + 17?".' },
  ],
  // Calls that need approval.
  [
    /Set permission, listen with run\.on\("permission", …\) and call run\.answer, or name the call in permissions\.allow\./g,
    {
      shell: "Run it in a terminal, where you are asked, or name the call with --allow.",
      page: `Ask ${OPERATOR} to allow it.`,
    },
  ],
  // Options that have no effect.
  [
    /^claudeCode is ignored\b/g,
    { shell: "What is set for Claude Code is ignored", page: "What is set for Claude Code is ignored" },
  ],
  [/^record is /g, { shell: "--record is " }],
  [/Read plain text with the format "text"/g, { shell: "Read plain text with --format text" }],
  [
    /Give the earlier messages as input, or use openSession/g,
    { shell: "Talk with millrace chat instead", page: "Begin a new thread" },
  ],
  // Servers.
  [/Give another port, or 0 for any free one\./g, { shell: "Give another --port; --port 0 takes any free one." }],
  [/^host is /g, { shell: "--host is " }],
  [/Give one \(--token, or tokens\)/g, { shell: "Give one with MILLRACE_TOKEN or --token" }],
  // Comparisons.
  [
    /^targets has ("[^"]*") twice\. Give each its own name: \{ name, target, options \}\./g,
    { shell: "--backend names $1 twice. Give each its own name, such as --backend first=offline." },
  ],
  [/Ask more often \(repeat\)\./g, { shell: "Ask more often (--repeat)." }],
  [/^baseline is ("[^"]*")\. It must be one of the targets: /g, { shell: "--baseline is $1. Give one of: " }],
];

const OPTION =
  /\b(?:limits|permissions|session|claudeCode)\.[a-z]\w*(?!["\w])|(?<!--)\b(?:maxTokens|thinkingTokens)\b/g;
/** An option in parentheses is an aside for programmers, and is left out on the page. */
const ASIDE = / \((?:limits|permissions|session|claudeCode)\.[a-z]\w*\)/g;

/**
 * Rewords a message for its reader. The messages of runs and start errors are written for programs: they name options
 * and functions.
 *
 * @example
 * adviceFor("shell", "The run reached limits.turns (1).") // "The run reached --max-turns (1)."
 * adviceFor("page", "The run reached limits.turns (1).") // "The run reached the limit of turns (1)."
 */
export function adviceFor(reader: Reader, text: string): string {
  const reworded = PHRASES.reduce((words, [phrase, instead]) => {
    const fitting = instead[reader];
    return fitting === undefined ? words : words.replace(phrase, (...found) => fill(fitting, found));
  }, text);
  const bare = reader === "page" ? reworded.replace(ASIDE, "") : reworded;
  return bare.replace(OPTION, (option) => {
    const words = Object.hasOwn(OPTION_WORDS, option) ? OPTION_WORDS[option]?.[reader] : undefined;
    if (words !== undefined) return words;
    if (reader === "page") return "a setting of this server";
    // Programs open sessions; the configuration has no field for them.
    return option.startsWith("session.") ? option : inConfiguration(option);
  });
}

/** `$1` stands for the first matched group, or for nothing. */
function fill(words: string, [, group]: readonly unknown[]): string {
  return words.replace("$1", typeof group === "string" ? group : "");
}

function inConfiguration(option: string): string {
  return `${option.startsWith("claudeCode.") ? "backends." : ""}${option} of the configuration`;
}

function askOrRaise(first: string): string {
  return `${first}, or ask ${OPERATOR} to raise it.`;
}
