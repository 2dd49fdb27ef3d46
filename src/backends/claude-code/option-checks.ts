import { describeThrown, nearestName } from "#domain";
import { LARGEST_LINE_LIMIT } from "#wire";
import { EFFORTS, PERMISSION_MODES, SETTING_SOURCES } from "./option-words.ts";

/** What is wrong with a value, to be read behind the name of its field; `undefined` when nothing is. */
export type Check = (value: unknown) => string | undefined;

const MAX_NAME = 256;
const MAX_RULE = 4096;
const MAX_PATH = 4096;
/** Longer lists are no lists a person or a program means; and each entry costs room in the argument list. */
const MAX_ENTRIES = 1000;

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SESSION = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;
const FLAG = /^[a-z][A-Za-z0-9-]{0,63}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

/** Flags that decide how we are spoken to. With another value nothing we read would mean what we think. */
const OUR_FLAGS = [
  "print",
  "output-format",
  "input-format",
  "verbose",
  "include-partial-messages",
  "setting-sources",
  "strict-mcp-config",
  "permission-prompt-tool",
  "version",
  "help",
];

const SUBAGENT_NAMES = ["description", "prompt", "tools", "model"];
const SERVER_NAMES = ["type", "name", "command", "args", "env", "url", "headers"];

/** Every option with its check; what is not here is not an option. */
export const OPTION_CHECKS = {
  model: name,
  fallbackModel: (value) => (Array.isArray(value) ? listOf(modelOfList)(value) : modelOfList(value)),
  maxTurns: wholeNumber(1),
  maxBudgetUsd: (value) =>
    typeof value === "number" && Number.isFinite(value) && value > 0
      ? undefined
      : say(value, "Give an amount above 0, in dollars"),
  maxThinkingTokens: wholeNumber(0),
  effort: oneOf(...EFFORTS),
  systemPrompt: text,
  appendSystemPrompt: text,
  allowedTools: listOf(toolRule),
  disallowedTools: listOf(toolRule),
  toolFilter: oneOf("both", "allow-first"),
  tools: listOf(toolRule),
  mcpConfig: mcpConfig,
  strictMcpConfig: flag,
  permissionMode: oneOf(...PERMISSION_MODES),
  permissionPromptTool: toolRule,
  resume: (value) =>
    typeof value === "string" && SESSION.test(value) ? undefined : say(value, "Give the id of a session"),
  continue: flag,
  forkSession: flag,
  sessionId: (value) => (typeof value === "string" && UUID.test(value) ? undefined : say(value, "Give a UUID")),
  persistSession: flag,
  cwd: (value) => (value === "" ? undefined : path(value)),
  addDirs: listOf(path),
  env: recordOf((value, key) => {
    if (!VARIABLE.test(key)) return " is not a name for a variable. Use letters, digits and _";
    return typeof value === "string" && !value.includes("\0") ? undefined : " is not a text without NUL bytes";
  }),
  executable: path,
  mode: oneOf("auto", "plain", "control"),
  attachments: flag,
  slashCommands: flag,
  repositoryGit: flag,
  settingSources: listOf(oneOf(...SETTING_SOURCES)),
  settings: (value) => (typeof value === "string" ? path(value) : json(value)),
  includePartialMessages: flag,
  includeHookEvents: flag,
  agents: recordOf(subagent),
  agent: name,
  jsonSchema: json,
  betas: listOf(toolRule),
  pluginDirs: listOf(path),
  extraArgs: recordOf((value, key) => {
    if (!FLAG.test(key)) return " is not a name for a flag. Leave the dashes out";
    if (OUR_FLAGS.includes(key)) return " is set by us. Use the option for it, or leave it out";
    if (value === null) return undefined;
    return text(value);
  }),
  skipVersionCheck: flag,
  permissiveVersionCheck: flag,
  strictExitStatus: flag,
  keepBackground: flag,
  maxLineBytes: (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST_LINE_LIMIT
      ? undefined
      : say(value, `Give a whole number of bytes from 1 to ${LARGEST_LINE_LIMIT}`),
  stderr: (value) => (typeof value === "function" ? undefined : say(value, "Give a function that takes a line")),
  spawn: (value) => (typeof value === "function" ? undefined : say(value, "Give a function that starts a process")),
  watchdog: flag,
} as const satisfies Readonly<Record<string, Check>>;

function flag(value: unknown): string | undefined {
  return typeof value === "boolean" ? undefined : say(value, "Give true or false");
}

/** Free text: it stands in a slot of its own, so all that must not be in it is what no argument can hold. */
function text(value: unknown): string | undefined {
  if (typeof value !== "string") return say(value, "Give a text");
  return value.includes("\0") ? " holds a NUL byte. Remove it" : undefined;
}

function path(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > MAX_PATH) return say(value, "Give a path");
  return value.includes("\0") ? " holds a NUL byte. Remove it" : undefined;
}

/** A word for the CLI: nothing that it, or a terminal, could take for something else. */
function name(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return say(value, "Give a name");
  if (value.length > MAX_NAME) return ` has ${value.length} characters. Give at most ${MAX_NAME}`;
  if (value.startsWith("-")) return say(value, "A name cannot begin with -");
  return CONTROL_CHARACTER.test(value) ? say(value, "A name holds no control characters") : undefined;
}

function modelOfList(value: unknown): string | undefined {
  return name(value) ?? (String(value).includes(",") ? say(value, "Give several as an array") : undefined);
}

/** `Bash` or `Bash(git *)`. The CLI cuts its list at commas and blanks outside brackets, so one entry must stay one. */
function toolRule(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return say(value, "Give a name");
  if (value.length > MAX_RULE) return ` has ${value.length} characters. Give at most ${MAX_RULE}`;
  if (value.startsWith("-")) return say(value, "A name cannot begin with -");
  if (CONTROL_CHARACTER.test(value)) return say(value, "A name holds no control characters");
  let depth = 0;
  for (const character of value) {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (depth === 0 && (character === "," || character === " ")) return say(value, "Give one name per entry");
    if (depth < 0) return say(value, "The brackets do not match");
  }
  return depth === 0 ? undefined : say(value, "The brackets do not match");
}

function wholeNumber(least: number): Check {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : say(value, `Give a whole number from ${least} on`);
}

function oneOf(...words: readonly string[]): Check {
  return (value) => {
    if (typeof value === "string" && words.includes(value)) return undefined;
    const nearest = typeof value === "string" ? nearestName(value, words) : undefined;
    return say(value, nearest === undefined ? `Known are: ${words.join(", ")}` : `Did you mean ${nearest}?`);
  };
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return say(value, "Give an array");
    if (value.length > MAX_ENTRIES) return ` has ${value.length} entries. Give at most ${MAX_ENTRIES}`;
    for (const [index, entry] of value.entries()) {
      const problem = check(entry);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

function recordOf(check: (value: unknown, key: string) => string | undefined): Check {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return say(value, "Give an object");
    for (const [key, entry] of Object.entries(value)) {
      const problem = check(entry, key);
      if (problem !== undefined) return `[${quote(key)}]${problem}`;
    }
    return undefined;
  };
}

function subagent(value: unknown, key: string): string | undefined {
  const problem = name(key);
  if (problem !== undefined) return problem;
  if (typeof value !== "object" || value === null) return say(value, "Give { description, prompt }");
  const misspelt = misspeltName(value, SUBAGENT_NAMES);
  if (misspelt !== undefined) return misspelt;
  const { description, prompt } = value as Readonly<Record<string, unknown>>;
  if (typeof description !== "string") return `.description${say(description, "Say what the agent is for")}`;
  if (typeof prompt !== "string") return `.prompt${say(prompt, "Give the agent's instructions")}`;
  return json(value);
}

function mcpConfig(value: unknown): string | undefined {
  if (typeof value === "string") return path(value);
  return Array.isArray(value) ? listOf(path)(value) : recordOf(mcpServer)(value);
}

function mcpServer(value: unknown, key: string): string | undefined {
  const problem = name(key);
  if (problem !== undefined) return problem;
  if (typeof value !== "object" || value === null) return say(value, "Give { command } or { type, url }");
  const misspelt = misspeltName(value, SERVER_NAMES);
  if (misspelt !== undefined) return misspelt;
  const { type, command, url } = value as Readonly<Record<string, unknown>>;
  if (type === "sdk") {
    return '.type is "sdk", a server of another program\'s SDK, which nothing here would serve. Give its tools as the option tools';
  }
  if (type === "http" || type === "sse") {
    return typeof url === "string" && url !== "" ? json(value) : `.url${say(url, "Give the address of the server")}`;
  }
  if (type !== undefined && type !== "stdio") return `.type${oneOf("stdio", "http", "sse")(type)}`;
  return typeof command === "string" && command !== "" ? json(value) : `.command${say(command, "Give a program")}`;
}

/** A name that is a slip of the pen. Others go on to the CLI: these are its own words, and later versions have more. */
function misspeltName(value: object, known: readonly string[]): string | undefined {
  for (const name of Object.keys(value)) {
    const near = known.includes(name) ? undefined : nearestName(name, known);
    if (near !== undefined) return `.${name} is not known. Did you mean ${near}?`;
  }
  return undefined;
}

function json(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return say(value, "Give an object");
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return ` cannot be written as JSON: ${describeThrown(error)}`;
  }
}

function say(value: unknown, remedy: string): string {
  return ` is ${quote(value)}. ${remedy}`;
}

/** A value for a message: short, on one line, and no secret that happens to stand in an object. */
function quote(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (typeof value === "number" || typeof value === "boolean" || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
