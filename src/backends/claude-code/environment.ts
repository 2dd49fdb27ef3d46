import { secretsOfData, secretsOfVariables } from "#secrets";
import { createCloudFilter } from "./cloud-variables.ts";
import { programFolders } from "./program-folders.ts";
import { ALWAYS_OFF, type GitSetting, isPrivateSetting, numberGitSettings, readGitSettings } from "./git-settings.ts";

/** Variables of our own process that the CLI gets, by exact name. No others are passed. */
export const ALLOWED_VARIABLES: readonly string[] = [
  // the machine and its user
  ..."PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM NO_COLOR TZ TMPDIR TMP TEMP".split(" "),
  ..."XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR".split(" "),
  // the same on Windows
  ..."SystemRoot SYSTEMROOT windir COMSPEC ComSpec PATHEXT Path USERPROFILE USERNAME APPDATA LOCALAPPDATA".split(" "),
  ..."ProgramData ProgramFiles ProgramFiles(x86) ProgramW6432 CommonProgramFiles ALLUSERSPROFILE PUBLIC".split(" "),
  ..."HOMEDRIVE HOMEPATH SystemDrive OS PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS COMPUTERNAME USERDOMAIN".split(" "),
  // the way to the network
  ..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split(" "),
  ..."SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS".split(" "),
  // the CLI's identity and its provider
  ..."ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_BETAS".split(" "),
  ..."ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL".split(" "),
  ..."ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL CLAUDE_CODE_SUBAGENT_MODEL".split(" "),
  ..."CLAUDE_CONFIG_DIR CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_API_KEY_HELPER_TTL_MS".split(" "),
  ..."CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE".split(" "),
  ..."CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY".split(" "),
  ..."CLAUDE_CODE_USE_MANTLE CLAUDE_CODE_USE_ANTHROPIC_AWS".split(" "),
  ..."CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_SKIP_VERTEX_AUTH CLAUDE_CODE_SKIP_FOUNDRY_AUTH".split(" "),
  ..."ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID".split(" "),
  ..."ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE CLOUD_ML_REGION".split(" "),
  // its behaviour
  ..."CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_MAX_OUTPUT_TOKENS CLAUDE_CODE_EFFORT_LEVEL API_TIMEOUT_MS".split(" "),
  ..."CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC CLAUDE_CODE_SUBPROCESS_ENV_SCRUB CLAUDE_CODE_GIT_BASH_PATH".split(" "),
  ..."CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".split(" "),
  ..."MAX_THINKING_TOKENS MCP_TIMEOUT MCP_TOOL_TIMEOUT MAX_MCP_OUTPUT_TOKENS ENABLE_TOOL_SEARCH".split(" "),
  ..."BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS BASH_MAX_OUTPUT_LENGTH USE_BUILTIN_RIPGREP IS_SANDBOX".split(" "),
  ..."DISABLE_TELEMETRY DISABLE_ERROR_REPORTING DISABLE_AUTOUPDATER DISABLE_PROMPT_CACHING".split(" "),
];

/** Prefixes of whole groups of variables. */
export const ALLOWED_PREFIXES: readonly string[] = ["LC_"];

/**
 * Set by a CLI for processes inside it. A CLI that finds them considers itself nested and waits for its parent, so they
 * are removed even if a caller passes on the whole environment.
 */
export const STRIPPED_VARIABLES: readonly string[] = [
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_AGENT_SDK_VERSION",
];

/** Set unless the caller or the environment sets it otherwise. */
export const DEFAULT_VARIABLES: Readonly<Record<string, string>> = {
  // The CLI's default of ten retries means three silent minutes before a wrong key is reported.
  CLAUDE_CODE_MAX_RETRIES: "2",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
};

/**
 * The CLI reads a file that a prompt names as `@path` and sends it to the model, without a tool call and whatever the
 * rules are; and a prompt may contain untrusted text.
 */
const ATTACHMENTS_OFF = "CLAUDE_CODE_DISABLE_ATTACHMENTS";

/** The variable by which everything that a run has started can be found. */
export const RUN_TAG_VARIABLE = "MILLRACE_RUN";

export interface EnvironmentRequest {
  /** The variables of our own process. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Variables that the caller adds or replaces. */
  readonly extra?: Readonly<Record<string, string>>;
  /** The tag of the run; absent for the version check. */
  readonly runTag?: string;
  /** Whether the CLI may attach the files that prompts name. Default false. */
  readonly attachments?: boolean | undefined;
  /** Settings for every git that the CLI starts; they win over the repository's own. Default `ALWAYS_OFF`. */
  readonly git?: readonly GitSetting[] | undefined;
  /** Our working folder and the CLI's: programs of a project there are not found by name. */
  readonly folders?: readonly string[] | undefined;
  /** Default: the current platform. On Windows names are case-insensitive. */
  readonly platform?: string | undefined;
}

/**
 * The variables of the CLI's process: our allowed ones, then the caller's, then those that isolate it from untrusted
 * text.
 */
export function childEnvironment(request: EnvironmentRequest): Record<string, string> {
  const { parent, extra = {}, runTag, git = ALWAYS_OFF, folders = [], platform = process.platform } = request;
  const isWindows = platform === "win32";
  const env = createVariables(isWindows);
  // Set here and again at the end: a listing of processes may be cut after the first variables.
  env.set(RUN_TAG_VARIABLE, runTag);
  for (const [name, value] of Object.entries(DEFAULT_VARIABLES)) env.set(name, value);
  const isOfCloud = createCloudFilter(
    (name) => readVariable(extra, name, isWindows) ?? readVariable(parent, name, isWindows),
  );
  const allowed = new Set(ALLOWED_VARIABLES.map(env.fold));
  for (const [name, value] of Object.entries(parent)) {
    const isAllowed = allowed.has(env.fold(name)) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (!isAllowed && !isOfCloud(name)) continue;
    const isPath = env.fold(name) === "PATH" && value !== undefined;
    env.set(name, isPath ? programFolders({ path: value, folders, isWindows }).join(isWindows ? ";" : ":") : value);
  }
  for (const [name, value] of Object.entries(extra)) env.set(name, value);
  for (const name of STRIPPED_VARIABLES) env.delete(name);
  if (request.attachments !== true) env.set(ATTACHMENTS_OFF, "1");
  // The last setting wins, so ours come last; the user's own are kept.
  if (git.length > 0) {
    const own = readGitSettings(parent).filter((setting) => !isPrivateSetting(setting));
    const settings = [...own, ...readGitSettings(extra), ...git];
    for (const [name, value] of numberGitSettings(settings)) env.set(name, value);
  }
  env.set(RUN_TAG_VARIABLE, runTag);
  return env.toObject();
}

/** The secrets of a CLI with these options: those among its variables, and those in the options. */
export function cliSecrets(
  options: { readonly env?: Readonly<Record<string, string>> },
  { env: parent }: { readonly env: EnvironmentRequest["parent"] },
): readonly string[] {
  const env = childEnvironment({ parent, extra: options.env ?? {} });
  return [...secretsOfVariables(env), ...secretsOfData(options)];
}

/** Variables by name, case-insensitive on Windows. */
function createVariables(isWindows: boolean) {
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const held = new Map<string, readonly [name: string, value: string]>();
  return {
    fold,
    set(name: string, value: string | undefined): void {
      if (value !== undefined) held.set(fold(name), [name, value]);
    },
    delete: (name: string): boolean => held.delete(fold(name)),
    toObject: (): Record<string, string> => Object.fromEntries(held.values()),
  };
}

/** One variable, case-insensitive on Windows. */
export function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  isWindows: boolean,
): string | undefined {
  if (Object.hasOwn(env, name)) return env[name];
  if (!isWindows) return undefined;
  const found = Object.keys(env).find((one) => one.toUpperCase() === name.toUpperCase());
  return found === undefined ? undefined : env[found];
}
