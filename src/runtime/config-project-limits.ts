import { StartError } from "#domain";
import type { Config } from "./config.ts";
import { PROVIDER_NAMES, type ProviderName, type ProviderOptions } from "./options.ts";
import { PROVIDERS } from "./providers.ts";

/** What a project's configuration is checked against. */
export interface ProjectLimits {
  /** The project's file, for messages. */
  readonly file: string;
  /** The path of the person's own configuration, for messages. */
  readonly ownFile: string;
  /** The hosts that the person's own configuration allows. */
  readonly allowedHosts: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A project's configuration without anything that would decide where the person's keys are sent. An address in the
 * environment wins over the project's; any other address is refused unless the person's own configuration allows its
 * host.
 *
 * @throws StartError `invalid-config` naming file, field, host and remedy.
 */
export function limitProjectConfig(config: Config, fence: ProjectLimits): Config {
  if (config.allowedHosts !== undefined) {
    throw refuse(
      fence,
      "allowedHosts",
      "decides which hosts receive keys, which only the person may do",
      "Write it there",
    );
  }
  const { backends } = config;
  if (backends === undefined) return config;
  const fenced: Record<string, unknown> = { ...backends };
  for (const name of PROVIDER_NAMES) {
    const options = backends[name];
    if (options !== undefined) fenced[name] = fenceProvider(name, options, fence);
  }
  fenceClaudeCode(backends.claudeCode ?? {}, fence);
  return { ...config, backends: fenced as NonNullable<Config["backends"]> };
}

function fenceProvider(name: ProviderName, options: ProviderOptions, fence: ProjectLimits): ProviderOptions {
  const { keyVariables, baseUrlVariable, baseUrl: usual } = PROVIDERS[name];
  const isSet = (variable: string): boolean => (fence.env[variable]?.trim() ?? "") !== "";
  const { baseUrl: _, ...others } = options;
  const kept: ProviderOptions = isSet(baseUrlVariable) ? others : options;
  const hasOwnKey = kept.apiKey !== undefined && kept.apiKey.trim() !== "";
  if (hasOwnKey || !keyVariables.some(isSet)) return kept;
  const field = `backends.${name}`;
  if (kept.baseUrl !== undefined && originOf(kept.baseUrl) !== originOf(usual)) {
    requireAllowed(kept.baseUrl, `${field}.baseUrl`, fence);
  }
  if (kept.headers !== undefined && Object.keys(kept.headers).length > 0) {
    const why = "goes along with a key of your environment, and a header may say where it is passed on to";
    throw refuse(fence, `${field}.headers`, why, `Write it there, or give ${field}.apiKey in the same file`);
  }
  return kept;
}

type ClaudeCode = NonNullable<NonNullable<Config["backends"]>["claudeCode"]>;

/** Options that name programs or settings which receive the CLI's key, or decide where it is sent. */
const CLAUDE_CODE_FIELDS: readonly (keyof ClaudeCode)[] = [
  "executable",
  "spawn",
  "settings",
  "extraArgs",
  "pluginDirs",
];

/**
 * Variables that decide where the CLI sends its key and its measurements, which programs it and its shell start, and
 * which certificates it trusts.
 */
const ADDRESS = /(?:_BASE_URL|_ENDPOINT|_ENDPOINT_URL|_HOST)$/i;
const DECIDING =
  /^(?:ANTHROPIC_(?!MODEL$|SMALL_FAST_MODEL$|DEFAULT_\w+_MODEL$)|CLAUDE_|AWS_|GOOGLE_|GCLOUD_|CLOUDSDK_|AZURE_|NODE_|BUN_|LD_|DYLD_|SSL_|GIT_|XDG_|OTEL_|PYTHON|PERL5|RUBY|_?JAVA_|JDK_JAVA_|npm_config_|PATH$|HOME$|USERPROFILE$|APPDATA$|SHELL$|BASH_ENV$|ENV$|ZDOTDIR$|INPUTRC$|PROMPT_COMMAND$|PS[0-4]$)|(?:_PROXY|_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|LESSOPEN|LESSCLOSE)$/i;

function fenceClaudeCode(options: ClaudeCode, fence: ProjectLimits): void {
  const why = "decides which program or host gets the key of Claude Code";
  for (const name of CLAUDE_CODE_FIELDS) {
    if (options[name] !== undefined) throw refuse(fence, `backends.claudeCode.${name}`, why, "Write it there");
  }
  if (options.settingSources?.some((source) => source !== "user") === true) {
    throw refuse(fence, "backends.claudeCode.settingSources", why, "Write it there");
  }
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (!DECIDING.test(name)) continue;
    const field = `backends.claudeCode.env.${name}`;
    if (!ADDRESS.test(name)) throw refuse(fence, field, why, "Write it there");
    requireAllowed(value, field, fence);
  }
}

function requireAllowed(address: string, field: string, fence: ProjectLimits): void {
  const host = hostOf(address);
  const name = URL.canParse(address) ? new URL(address).hostname.toLowerCase() : host;
  if (fence.allowedHosts.some((allowed) => [host, name].includes(allowed.toLowerCase()))) return;
  throw new StartError(
    "invalid-config",
    `${fence.file}: ${field} would send a key of yours to ${host}. A project cannot decide that. ` +
      `If you trust this host with it, add "allowedHosts": [${JSON.stringify(host)}] to ${fence.ownFile}, or remove ${field}.`,
  );
}

/** The host and port of an address; the whole text if it is not a URL. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host.toLowerCase() : address;
}

/** Without the path. The protocol is included, because the same host over another protocol is a different place. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

function refuse({ file, ownFile }: ProjectLimits, field: string, why: string, remedy: string): StartError {
  return new StartError(
    "invalid-config",
    `${file}: ${field} ${why}. This is only allowed in your own configuration (${ownFile}). ${remedy}.`,
  );
}
