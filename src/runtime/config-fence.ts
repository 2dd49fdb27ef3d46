import { StartError } from "#domain";
import type { Config } from "./config.ts";
import { PROVIDER_NAMES, type ProviderName, type ProviderOptions } from "./options.ts";
import { PROVIDERS } from "./providers.ts";

/** What a project's configuration is held against. */
export interface Fence {
  /** The project's file, for messages. */
  readonly file: string;
  /** Where the person's own configuration is, for messages. */
  readonly ownFile: string;
  /** Hosts that the person's own configuration allows. */
  readonly allowedHosts: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A project's configuration without what would decide where a key of the person goes. An address of the environment
 * wins over the project's; another address is refused unless the person's own configuration allows its host.
 *
 * @throws StartError `invalid-config` naming file, field, host and remedy.
 */
export function fenceConfig(config: Config, fence: Fence): Config {
  if (config.allowedHosts !== undefined) {
    throw refuse(
      fence,
      "allowedHosts",
      "says which hosts get keys, and that is for the person to say",
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

function fenceProvider(name: ProviderName, options: ProviderOptions, fence: Fence): ProviderOptions {
  const { keyVariables, baseUrlVariable, baseUrl: usual } = PROVIDERS[name];
  const isSet = (variable: string): boolean => (fence.env[variable]?.trim() ?? "") !== "";
  const { baseUrl: _, ...others } = options;
  const said: ProviderOptions = isSet(baseUrlVariable) ? others : options;
  const hasOwnKey = said.apiKey !== undefined && said.apiKey.trim() !== "";
  if (hasOwnKey || !keyVariables.some(isSet)) return said;
  const field = `backends.${name}`;
  if (said.baseUrl !== undefined && originOf(said.baseUrl) !== originOf(usual)) {
    requireAllowed(said.baseUrl, `${field}.baseUrl`, fence);
  }
  if (said.headers !== undefined && Object.keys(said.headers).length > 0) {
    const why = "goes along with a key of your environment, and a header may say where it is passed on to";
    throw refuse(fence, `${field}.headers`, why, `Write it there, or give ${field}.apiKey in the same file`);
  }
  return said;
}

type ClaudeCode = NonNullable<NonNullable<Config["backends"]>["claudeCode"]>;

/** Options that name programs or settings which get the CLI's key, or say where it is sent. */
const CLAUDE_CODE_FIELDS: readonly (keyof ClaudeCode)[] = [
  "executable",
  "spawn",
  "settings",
  "extraArgs",
  "pluginDirs",
];

/** Variables that decide where the CLI sends its key, which programs it starts, and whom it trusts. */
const ADDRESS = /(?:_BASE_URL|_ENDPOINT|_ENDPOINT_URL|_HOST)$/i;
const DECIDING =
  /^(?:ANTHROPIC_(?!MODEL$|SMALL_FAST_MODEL$|DEFAULT_\w+_MODEL$)|CLAUDE_|AWS_|GOOGLE_|GCLOUD_|CLOUDSDK_|AZURE_|NODE_|BUN_|LD_|DYLD_|SSL_|GIT_|XDG_|PATH$|HOME$|USERPROFILE$|APPDATA$|SHELL$|BASH_ENV$|ENV$)|_PROXY$/i;

function fenceClaudeCode(options: ClaudeCode, fence: Fence): void {
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

function requireAllowed(address: string, field: string, fence: Fence): void {
  const host = hostOf(address);
  const name = URL.canParse(address) ? new URL(address).hostname.toLowerCase() : host;
  if (fence.allowedHosts.some((allowed) => [host, name].includes(allowed.toLowerCase()))) return;
  throw new StartError(
    "invalid-config",
    `${fence.file}: ${field} would send a key of yours to ${host}. A project cannot decide that. ` +
      `If you trust this host with it, add "allowedHosts": [${JSON.stringify(host)}] to ${fence.ownFile}, or remove ${field}.`,
  );
}

/** Host and port of an address; the whole text when it is none. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host.toLowerCase() : address;
}

/** Without the path: the same host over another protocol is another place. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

function refuse({ file, ownFile }: Fence, field: string, why: string, remedy: string): StartError {
  return new StartError(
    "invalid-config",
    `${file}: ${field} ${why}. A project's configuration cannot say it, only your own (${ownFile}). ${remedy}.`,
  );
}
