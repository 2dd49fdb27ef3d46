import type { Backend } from "#backends";
import { nearestName, StartError } from "#domain";
import { createAnthropicBackend } from "../backends/anthropic/anthropic.ts";
import { createGeminiBackend } from "../backends/gemini/gemini.ts";
import { createOpenaiBackend } from "../backends/openai/openai.ts";
import { PROFILES } from "../backends/openai/profiles.ts";
import { createOfflineBackend } from "./offline.ts";
import type { ProviderOptions, RunOptions } from "./options.ts";
import type { World } from "./world.ts";

type Settings = Pick<RunOptions, ProviderName>;
type ProviderName = "anthropic" | "google" | keyof typeof PROFILES;

/** What one provider's backend is made from. */
interface Making {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly world: World;
}

/** A provider by name: where it is, which variables hold its key and address, and how its backend is made. */
interface Provider {
  readonly defaultModel: string | undefined;
  readonly keyVariables: readonly string[];
  readonly baseUrl: string;
  readonly baseUrlVariable: string;
  make(making: Making): Backend;
}

const DEFAULT_MODELS: Readonly<Partial<Record<keyof typeof PROFILES, string>>> = {
  openai: "gpt-5",
  deepseek: "deepseek-chat",
};

const PROVIDERS: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    "anthropic",
    {
      defaultModel: "claude-sonnet-4-5",
      keyVariables: ["ANTHROPIC_API_KEY"],
      baseUrl: "https://api.anthropic.com",
      baseUrlVariable: "ANTHROPIC_BASE_URL",
      make: ({ world, ...rest }) => createAnthropicBackend({ ...rest, fetch: world.fetch }),
    },
  ],
  [
    "google",
    {
      defaultModel: "gemini-2.5-pro",
      keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      baseUrl: "https://generativelanguage.googleapis.com",
      baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
      make: ({ world, ...rest }) => createGeminiBackend({ ...rest, fetch: world.fetch }),
    },
  ],
  ...(Object.keys(PROFILES) as (keyof typeof PROFILES)[]).map((name): [string, Provider] => {
    const profile = PROFILES[name];
    return [
      name,
      {
        defaultModel: DEFAULT_MODELS[name],
        keyVariables: profile.keyVariable === undefined ? [] : [profile.keyVariable],
        baseUrl: profile.baseUrl,
        baseUrlVariable: profile.baseUrlVariable,
        make: ({ world, ...rest }) => createOpenaiBackend({ ...rest, provider: name, profile, fetch: world.fetch }),
      },
    ];
  }),
]);

/** The names a backend string may begin with. */
export const BACKEND_NAMES: readonly string[] = ["offline", ...PROVIDERS.keys()];

/**
 * Makes the backend a string names: `provider/model`, or `provider` for its default model.
 *
 * @throws StartError `unknown-backend`, `missing-key` or `invalid-option`, naming the variable or the nearest name.
 */
export function resolveBackend(text: string, settings: Settings, world: World): Backend {
  const slash = text.indexOf("/");
  const name = slash === -1 ? text : text.slice(0, slash);
  const given = slash === -1 ? "" : text.slice(slash + 1);
  if (name === "offline") return createOfflineBackend(given, world);
  const provider = PROVIDERS.get(name);
  if (provider === undefined) throw unknownBackend(text, name);
  const model = given === "" ? provider.defaultModel : given;
  if (model === undefined) {
    throw new StartError(
      "unknown-backend",
      `The backend "${text}" names no model. Write ${name}/<model>; ${name} has no default one.`,
    );
  }
  const options: ProviderOptions = settings[name as ProviderName] ?? {};
  return provider.make({
    model,
    apiKey: readKey(name, provider, options, world),
    baseUrl: readBaseUrl(name, provider, options, world),
    headers: options.headers ?? {},
    world,
  });
}

function unknownBackend(text: string, name: string): StartError {
  const near = nearestName(name, BACKEND_NAMES);
  const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
  return new StartError(
    "unknown-backend",
    `There is no backend "${text}".${guess} Known are: ${BACKEND_NAMES.join(", ")}, each followed by /<model>.`,
  );
}

function readKey(name: string, provider: Provider, options: ProviderOptions, world: World): string {
  if (options.apiKey !== undefined && options.apiKey !== "") return options.apiKey;
  for (const variable of provider.keyVariables) {
    const value = world.env[variable];
    if (value !== undefined && value.trim() !== "") return value.trim();
  }
  if (provider.keyVariables.length === 0) return "";
  throw new StartError(
    "missing-key",
    `${provider.keyVariables.join(" or ")} is not set, so ${name} cannot be asked. Set it, or pass the option ${name}: { apiKey }. Without a key the backend "offline" works.`,
  );
}

function readBaseUrl(name: string, provider: Provider, options: ProviderOptions, world: World): string {
  const fromEnv = world.env[provider.baseUrlVariable];
  const [text, source] =
    options.baseUrl !== undefined
      ? [options.baseUrl, `The option ${name}.baseUrl`]
      : fromEnv !== undefined && fromEnv !== ""
        ? [fromEnv, provider.baseUrlVariable]
        : [provider.baseUrl, provider.baseUrlVariable];
  if (text === "") {
    throw new StartError(
      "invalid-option",
      `${source} is not set, and ${name} has no common address. Set it to your own.`,
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new StartError(
      "invalid-option",
      `${source} is ${JSON.stringify(text)}, which is no http(s) address. Write it as https://host/path.`,
    );
  }
  return text.replace(/\/+$/, "");
}
