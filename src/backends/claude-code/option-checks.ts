import {
  aFlag,
  aFunction,
  anObject,
  type Check,
  describeThrown,
  expects,
  giveInstead,
  listOf as listOfAny,
  nearestName,
  oneOf,
  recordOf,
  wholeNumber,
} from "#domain";
import { LARGEST_LINE_LIMIT } from "#wire";
import { EFFORTS, PERMISSION_MODES, SETTING_SOURCES } from "./option-words.ts";

const MAX_NAME = 256;
const MAX_RULE = 4096;
const MAX_PATH = 4096;
/** A longer list is certainly a mistake, and each entry takes room in the argument list. */
const MAX_ENTRIES = 1000;

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SESSION = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;
const FLAG = /^[a-z][A-Za-z0-9-]{0,63}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

/** Flags that determine the protocol. With other values we could not read the output. */
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

/** Every option with its check; anything else is not an option. */
export const OPTION_CHECKS = {
  model: name,
  fallbackModel: (value, field) =>
    Array.isArray(value) ? listOf(modelOfList)(value, field) : modelOfList(value, field),
  maxTurns: wholeNumber(1),
  maxBudgetUsd: expects(
    (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
    "an amount above 0, in dollars",
  ),
  maxThinkingTokens: wholeNumber(0),
  effort: oneOf(EFFORTS),
  systemPrompt: text,
  appendSystemPrompt: text,
  allowedTools: listOf(toolRule),
  disallowedTools: listOf(toolRule),
  toolFilter: oneOf(["both", "allow-first"]),
  tools: listOf(toolRule),
  mcpConfig: mcpConfig,
  strictMcpConfig: aFlag,
  permissionMode: oneOf(PERMISSION_MODES),
  permissionPromptTool: toolRule,
  resume: expects((value) => typeof value === "string" && SESSION.test(value), "the id of a session"),
  continue: aFlag,
  forkSession: aFlag,
  sessionId: expects((value) => typeof value === "string" && UUID.test(value), "a UUID"),
  persistSession: aFlag,
  cwd: (value, field) => (value === "" ? undefined : path(value, field)),
  addDirs: listOf(path),
  env: recordOf((value, field, key) => {
    if (!VARIABLE.test(key)) return `${field} is not a name for a variable. Use letters, digits and _.`;
    if (typeof value === "string" && !value.includes("\0")) return undefined;
    return `${field} is not a string without NUL bytes. Give a string.`;
  }),
  executable: path,
  mode: oneOf(["auto", "plain", "control"]),
  attachments: aFlag,
  slashCommands: aFlag,
  repositoryGit: aFlag,
  settingSources: listOf(oneOf(SETTING_SOURCES)),
  settings: (value, field) => (typeof value === "string" ? path(value, field) : json(value, field)),
  includePartialMessages: aFlag,
  includeHookEvents: aFlag,
  agents: recordOf(subagent),
  agent: name,
  jsonSchema: json,
  betas: listOf(toolRule),
  pluginDirs: listOf(path),
  extraArgs: recordOf((value, field, key) => {
    if (!FLAG.test(key)) return `${field} is not a name for a flag. Leave the dashes out.`;
    if (OUR_FLAGS.includes(key)) return `${field} is set by us. Use the option for it, or leave it out.`;
    return value === null ? undefined : text(value, field);
  }),
  skipVersionCheck: aFlag,
  permissiveVersionCheck: aFlag,
  strictExitStatus: aFlag,
  keepBackground: aFlag,
  maxLineBytes: wholeNumber(1, LARGEST_LINE_LIMIT),
  stderr: aFunction,
  spawn: aFunction,
  watchdog: aFlag,
} as const satisfies Readonly<Record<string, Check>>;

function listOf(check: Check): Check {
  return listOfAny(check, "values", { most: MAX_ENTRIES });
}

/** Free text: it is a separate argument, so only a NUL byte is impossible. */
function text(value: unknown, field: string): string | undefined {
  if (typeof value !== "string") return giveInstead(field, value, "a string");
  return value.includes("\0") ? `${field} holds a NUL byte. Remove it.` : undefined;
}

function path(value: unknown, field: string): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > MAX_PATH) return giveInstead(field, value, "a path");
  return text(value, field);
}

/** A word that neither the CLI nor a terminal can misinterpret. */
function name(value: unknown, field: string): string | undefined {
  return word(value, field, MAX_NAME);
}

function word(value: unknown, field: string, most: number): string | undefined {
  if (typeof value !== "string" || value === "") return giveInstead(field, value, "a name");
  if (value.length > most) return `${field} has ${value.length} characters. Give at most ${most}.`;
  if (value.startsWith("-")) return giveInstead(field, value, "a name that does not begin with -");
  return CONTROL_CHARACTER.test(value) ? giveInstead(field, value, "a name without control characters") : undefined;
}

function modelOfList(value: unknown, field: string): string | undefined {
  return (
    name(value, field) ?? (String(value).includes(",") ? giveInstead(field, value, "several as a list") : undefined)
  );
}

/**
 * `Bash` or `Bash(git *)`. The CLI splits its list at commas and blanks outside brackets, so one entry must stay one.
 */
function toolRule(value: unknown, field: string): string | undefined {
  const fault = word(value, field, MAX_RULE);
  if (fault !== undefined) return fault;
  let depth = 0;
  for (const character of value as string) {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (depth === 0 && (character === "," || character === " ")) {
      return giveInstead(field, value, "one name per entry");
    }
    if (depth < 0) break;
  }
  return depth === 0 ? undefined : giveInstead(field, value, "a rule whose brackets match");
}

function subagent(value: unknown, field: string, key: string): string | undefined {
  const fault = name(key, field) ?? objectOf(value, field, SUBAGENT_NAMES, "{ description, prompt }");
  if (fault !== undefined) return fault;
  const { description, prompt } = value as Readonly<Record<string, unknown>>;
  if (typeof description !== "string") return giveInstead(`${field}.description`, description, "what the agent is for");
  if (typeof prompt !== "string") return giveInstead(`${field}.prompt`, prompt, "the agent's instructions");
  return json(value, field);
}

function mcpConfig(value: unknown, field: string): string | undefined {
  if (typeof value === "string") return path(value, field);
  return (Array.isArray(value) ? listOf(path) : recordOf(mcpServer))(value, field);
}

function mcpServer(value: unknown, field: string, key: string): string | undefined {
  const fault = name(key, field) ?? objectOf(value, field, SERVER_NAMES, "{ command } or { type, url }");
  if (fault !== undefined) return fault;
  const { type, command, url } = value as Readonly<Record<string, unknown>>;
  if (type === "sdk") {
    return `${field}.type is "sdk", a server of another program's SDK, which nothing here would serve. Give its tools as the option tools.`;
  }
  if (type === "http" || type === "sse") {
    return typeof url === "string" && url !== ""
      ? json(value, field)
      : giveInstead(`${field}.url`, url, "the address of the server");
  }
  if (type !== undefined && type !== "stdio") return oneOf(["stdio", "http", "sse"])(type, `${field}.type`);
  return typeof command === "string" && command !== ""
    ? json(value, field)
    : giveInstead(`${field}.command`, command, "a program");
}

/**
 * An object without misspelt names. Other unknown names are passed to the CLI: the format is its own, and later
 * versions have more fields.
 */
function objectOf(value: unknown, field: string, known: readonly string[], expected: string): string | undefined {
  if (typeof value !== "object" || value === null) return giveInstead(field, value, expected);
  for (const given of Object.keys(value)) {
    const near = known.includes(given) ? undefined : nearestName(given, known);
    if (near !== undefined) return `There is no ${field}.${given}. Did you mean ${near}?`;
  }
  return undefined;
}

function json(value: unknown, field: string): string | undefined {
  const fault = anObject(value, field);
  if (fault !== undefined) return fault;
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return `${field} cannot be written as JSON: ${describeThrown(error)}. Give plain data.`;
  }
}
