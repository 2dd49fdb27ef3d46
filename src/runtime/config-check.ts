import { anObject, aText, checkInput, checkNames, describeValue, expects, isStartError, StartError } from "#domain";
import { checkClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { agent } from "./agent.ts";
import { checkLimits, checkPolicy, checkProvider, checkTools } from "./check-options.ts";
import type { Config } from "./config.ts";
import { PROVIDER_NAMES } from "./options.ts";
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

/** The members of the field `server`: options of `createServer`, for `millrace serve`. */
const SERVER_FIELDS = [
  "tokens",
  "metricsToken",
  "linkKey",
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

/** Returns the position of a field in its file: `millrace.config.json:3:5`, or the file alone. */
export type Locate = (field: string) => string;

/**
 * Checks a configuration.
 * @throws StartError `invalid-config` naming the position, the field, the value and the remedy.
 */
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
    if (config.backend === undefined) return;
    checkInput(aText, config.backend, "backend");
    requireName(config.backend);
  });
  check("instructions", () => checkGiven(aText, config.instructions, "instructions"));
  check("limits", () => checkLimits(config.limits));
  check("tools", () => (config.tools === undefined ? undefined : checkTools(config.tools)));
  check("permissions", () =>
    checkPolicy({ ...(config.permissions !== undefined && { permissions: config.permissions }) }),
  );
  check("hooks", () => checkPolicy(config));
  checkAgents(config, check);
  checkBackends(config, check);
  check("allowedHosts", () => checkGiven(hosts, config.allowedHosts, "allowedHosts"));
  check("server", () => {
    checkGiven(anObject, config.server, "server");
    if (config.server !== undefined) checkNames(config.server, SERVER_FIELDS, "server.");
  });
  return config;
}

type Check = (field: string, test: () => void) => void;

function checkAgents({ agents, swarm: together }: Config, check: Check): void {
  check("swarm", () => {
    checkGiven(anObject, together, "swarm");
    if (together !== undefined) checkNames(together, ["start", "context"], "swarm.");
  });
  if (agents === undefined) return;
  check("agents", () => {
    checkInput(expects(Array.isArray, "a list of agents"), agents, "agents");
  });
  for (const [index, one] of agents.entries()) check(`agents[${index}]`, () => void agent(one));
  if (agents.length > 0) check("swarm", () => void swarm(agents, together ?? {}));
}

function checkBackends({ backends }: Config, check: Check): void {
  check("backends", () => {
    checkGiven(anObject, backends, "backends");
    if (backends !== undefined) checkNames(backends, BACKENDS, "backends.");
  });
  for (const name of PROVIDER_NAMES) {
    check(`backends.${name}`, () => checkProvider(name, backends?.[name]));
  }
  check("backends.claudeCode", () => void checkClaudeCodeOptions(backends?.claudeCode));
}

const hosts = expects(
  (value) => Array.isArray(value) && value.every((host) => typeof host === "string" && /^[^\s/@]+$/.test(host)),
  'a list of hosts, such as ["llm.example.com"], without https:// and path',
);

function checkGiven(test: Parameters<typeof checkInput>[0], value: unknown, field: string): void {
  if (value !== undefined) checkInput(test, value, field);
}

/** The position a message refers to: that of the field it names, or of the part of the file being checked. */
function placeOf(message: string, field: string, locate: Locate): string {
  const [, named = ""] =
    /^(?:There is no (?:field of an agent called |field |option )?)?([\w[\]-]+(?:\.[\w[\]-]+)*)/.exec(message) ?? [];
  const inner = named.slice(named.lastIndexOf(".") + 1);
  const file = locate("");
  const candidates = [named, `${field}.${named}`, `${field}.${inner}`, `backends.${named}`, field];
  return candidates.map(locate).find((place) => place !== file) ?? file;
}
