import { checkNames, describeValue, isStartError, StartError } from "#domain";
import { checkClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { agent } from "./agent.ts";
import { checkLimits, checkPolicy, checkProvider, checkText, checkTools } from "./check-options.ts";
import type { Config } from "./config.ts";
import { PROVIDER_NAMES, PROVIDER_OPTION_NAMES } from "./options.ts";
import { requireName } from "./resolve-backend.ts";
import { swarm } from "./swarm.ts";

export const CONFIG_FIELDS = [
  "backend",
  "instructions",
  "agents",
  "swarm",
  "tools",
  "permission",
  "permissions",
  "hooks",
  "guards",
  "outputMode",
  "limits",
  "backends",
  "allowedHosts",
  "server",
] as const satisfies readonly (keyof Config)[];

/** What the field `server` may say: options of `createServer`, for `millrace serve`. */
const SERVER_FIELDS = [
  "tokens",
  "metricsToken",
  "hosts",
  "origins",
  "trustProxy",
  "targets",
  "backends",
  "page",
  "limits",
] as const;

export type ServerField = (typeof SERVER_FIELDS)[number];

const BACKENDS = [...PROVIDER_NAMES, "claudeCode"];

/** Says where in its file a field stands: `millrace.config.json:3:5`, or the file alone. */
export type Locate = (field: string) => string;

/** Checks a configuration. @throws StartError `invalid-config` naming the place, the field, the value and the remedy. */
export function checkConfig(value: unknown, locate: Locate): Config {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new StartError(
      "invalid-config",
      `${locate("")}: the configuration is ${describeValue(value)}. Give an object, such as { backend: "offline" }.`,
    );
  }
  const config = value as Config;
  const check = (field: string, test: () => void): void => {
    try {
      test();
    } catch (error) {
      if (!isStartError(error)) throw error;
      throw new StartError("invalid-config", `${placeOf(error.message, field, locate)}: ${error.message}`, {
        cause: error,
      });
    }
  };
  check("", () => checkNames(config, CONFIG_FIELDS, "field "));
  check("backend", () => {
    checkText("backend", config.backend);
    if (config.backend !== undefined) requireName(config.backend);
  });
  check("instructions", () => checkText("instructions", config.instructions));
  check("limits", () => checkLimits(config.limits));
  check("tools", () => (config.tools === undefined ? undefined : checkTools(config.tools)));
  check("permissions", () =>
    checkPolicy({ ...(config.permissions !== undefined && { permissions: config.permissions }) }),
  );
  check("hooks", () => checkPolicy(config));
  checkAgents(config, check);
  checkBackends(config, check);
  check("allowedHosts", () => checkHosts(config.allowedHosts));
  check("server", () => {
    requireObject("server", config.server);
    if (config.server !== undefined) checkNames(config.server, SERVER_FIELDS, "server.");
  });
  return config;
}

type Check = (field: string, test: () => void) => void;

function checkAgents({ agents, swarm: together }: Config, check: Check): void {
  check("swarm", () => {
    requireObject("swarm", together);
    if (together !== undefined) checkNames(together, ["start", "context"], "swarm.");
  });
  if (agents === undefined) return;
  check("agents", () => {
    if (Array.isArray(agents)) return;
    throw new StartError("invalid-option", `agents is ${describeValue(agents)}. Give a list of agents.`);
  });
  for (const [index, one] of agents.entries()) check(`agents[${index}]`, () => void agent(one));
  if (agents.length > 0) check("swarm", () => void swarm(agents, together ?? {}));
}

function checkBackends({ backends }: Config, check: Check): void {
  check("backends", () => {
    requireObject("backends", backends);
    if (backends !== undefined) checkNames(backends, BACKENDS, "backends.");
  });
  for (const name of PROVIDER_NAMES) {
    check(`backends.${name}`, () => checkProvider(name, backends?.[name], PROVIDER_OPTION_NAMES));
  }
  check("backends.claudeCode", () => void checkClaudeCodeOptions(backends?.claudeCode));
}

function checkHosts(hosts: unknown): void {
  if (hosts === undefined) return;
  const isHost = (host: unknown): boolean => typeof host === "string" && /^[^\s/@]+$/.test(host);
  if (Array.isArray(hosts) && hosts.every(isHost)) return;
  throw new StartError(
    "invalid-option",
    `allowedHosts is ${describeValue(hosts)}. Give a list of hosts, such as ["llm.example.com"], without https:// and path.`,
  );
}

function requireObject(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value))) return;
  throw new StartError("invalid-option", `${name} is ${describeValue(value)}. Give an object.`);
}

/** The place of what a message is about: the field it names, or the part of the file that was being checked. */
function placeOf(message: string, field: string, locate: Locate): string {
  const [, named = ""] =
    /^(?:There is no (?:field of an agent called |field |option )?)?([\w[\]-]+(?:\.[\w[\]-]+)*)/.exec(message) ?? [];
  const inner = named.slice(named.lastIndexOf(".") + 1);
  const file = locate("");
  const candidates = [named, `${field}.${named}`, `${field}.${inner}`, `backends.${named}`, field];
  return candidates.map(locate).find((place) => place !== file) ?? file;
}
