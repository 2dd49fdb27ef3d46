import type { ModelBackend } from "#backends";
import { describeValue, type Fetch, StartError } from "#domain";
import { createHttpBackend } from "../backends/http/backend.ts";
import { anthropicHost } from "../dialects/anthropic/profile.ts";
import { geminiHost } from "../dialects/gemini/profile.ts";
import { openaiHost, PROFILES } from "../dialects/openai-chat/profile.ts";
import { MODEL_TABLE } from "./model-table.ts";
import type { ProviderName, ProviderOptions } from "./options.ts";
import type { World } from "./world.ts";

/**
 * The model of a backend string without one: `anthropic` is `anthropic/claude-sonnet-4-6`. This is the only place that
 * defines them; a test compares them with the vendors' own lists, so that an announced shutdown is noticed in time.
 */
export const DEFAULT_MODELS: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: "claude-sonnet-4-6",
  openai: "gpt-5.6-sol",
  deepseek: "deepseek-v4-pro",
  google: "gemini-3.8-flash",
};

/** What one provider's backend is made from. */
interface Making {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** The model's longest reply in tokens, including thinking, where known. */
  readonly maxOutputTokens: number | undefined;
}

/** A provider by name: its address, the variables that hold its key and address, and how its backend is made. */
interface Provider {
  readonly defaultModel: string | undefined;
  readonly keyVariables: readonly string[];
  readonly baseUrl: string;
  readonly baseUrlVariable: string;
  make(making: Making): ModelBackend;
}

const imitator = (name: keyof typeof PROFILES): Provider => {
  const profile = PROFILES[name];
  return {
    defaultModel: DEFAULT_MODELS[name],
    keyVariables: profile.keyVariable === undefined ? [] : [profile.keyVariable],
    baseUrl: profile.baseUrl,
    baseUrlVariable: profile.baseUrlVariable,
    make: (making) => createHttpBackend(openaiHost({ ...making, provider: name, profile }), making.fetch),
  };
};

export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  anthropic: {
    defaultModel: DEFAULT_MODELS.anthropic,
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseUrl: "https://api.anthropic.com",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    make: (making) => createHttpBackend(anthropicHost(making), making.fetch),
  },
  openai: imitator("openai"),
  openrouter: imitator("openrouter"),
  deepseek: imitator("deepseek"),
  vllm: imitator("vllm"),
  modal: imitator("modal"),
  google: {
    defaultModel: DEFAULT_MODELS.google,
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseUrl: "https://generativelanguage.googleapis.com",
    baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
    make: (making) => createHttpBackend(geminiHost(making), making.fetch),
  },
};

/**
 * Creates a provider's backend. Values that the options leave out come from the provider's usual variables.
 *
 * @throws StartError `missing-key` or `invalid-option`, naming the variable and the remedy.
 */
export function makeBackend(name: ProviderName, model: string, options: ProviderOptions, world: World): ModelBackend {
  const provider = PROVIDERS[name];
  const apiKey = readKey(name, provider, options, world);
  const baseUrl = readBaseUrl(name, provider, options, world);
  const made = provider.make({
    model,
    apiKey,
    baseUrl,
    headers: options.headers ?? {},
    fetch: world.fetch,
    maxOutputTokens: modelLimits(name, model)?.outputTokens,
  });
  const backend: ModelBackend = { ...made, withModel: (other) => makeBackend(name, other, options, world) };
  return isAtHome(baseUrl, provider) ? backend : { ...backend, hasKnownPrices: false };
}

/** The known prices only apply at the provider's own address. */
function isAtHome(baseUrl: string, provider: Provider): boolean {
  return provider.baseUrl !== "" && new URL(baseUrl).host === new URL(provider.baseUrl).host;
}

function readKey(name: string, provider: Provider, options: ProviderOptions, world: World): string {
  if (options.apiKey !== undefined && options.apiKey.trim() !== "") {
    return checkKey(options.apiKey.trim(), `The option ${name}.apiKey`);
  }
  for (const variable of provider.keyVariables) {
    const value = world.env[variable]?.trim() ?? "";
    if (value !== "") return checkKey(value, variable);
  }
  if (provider.keyVariables.length === 0) return "";
  throw new StartError("missing-key", `${missingKey(name, provider)} Without a key the backend "offline" works.`);
}

/** What is said wherever a key is missing. */
export function missingKey(name: string, { keyVariables }: Provider): string {
  return `${keyVariables.join(" or ")} is not set, so ${name} cannot be asked. Set it, or pass the option ${name}: { apiKey }.`;
}

/** What is said wherever an address is missing. */
export function missingAddress(name: string, { baseUrlVariable }: Provider): string {
  return `${baseUrlVariable} is not set, and ${name} has no common address. Set it to the address of your own host.`;
}

/** A header can hold nothing else; a key with a line end or surrounding quotation marks was copied wrongly. */
export function checkKey(key: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  throw new StartError("invalid-option", `${source} has a blank or a special character in it. Copy the key again.`);
}

function readBaseUrl(name: string, provider: Provider, options: ProviderOptions, world: World): string {
  if (options.baseUrl !== undefined) return checkBaseUrl(options.baseUrl, `The option ${name}.baseUrl`);
  const fromEnv = world.env[provider.baseUrlVariable]?.trim() ?? "";
  const text = fromEnv === "" ? provider.baseUrl : fromEnv;
  if (text !== "") return checkBaseUrl(text, provider.baseUrlVariable);
  throw new StartError("invalid-option", missingAddress(name, provider));
}

/** A base URL without a trailing slash. `source` names its origin for messages. */
export function checkBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    // The part before an @ may contain a password.
    const shown = describeValue(text.replace(/\/\/[^/]*@/, "//…@"));
    throw new StartError(
      "invalid-option",
      `${source} is ${shown}, which is not an http(s) address. Write it as https://host/path.`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new StartError("invalid-option", `${source} has a ? or # in it. Give the address without them.`);
  }
  return text.trim().replace(/\/+$/, "");
}

/** The limits of a model, in tokens. */
interface ModelLimits {
  /** Everything one request may contain: instructions, tools, transcript and reply. */
  readonly contextTokens: number;
  /** The longest reply, including thinking. */
  readonly outputTokens: number;
}

/**
 * The limits of a provider's model; `undefined` for an unknown model. A longer name counts as the model it contains:
 * `us.anthropic.claude-opus-5-v1:0`, `claude-opus-5@20260501`.
 */
export function modelLimits(provider: string, model: string): ModelLimits | undefined {
  const models = Object.hasOwn(MODEL_TABLE, provider) ? MODEL_TABLE[provider] : undefined;
  if (models === undefined) return undefined;
  const row = Object.hasOwn(models, model) ? models[model] : rowWithin(models, model);
  return row === undefined ? undefined : { contextTokens: row[0], outputTokens: row[1] };
}

type Rows = Readonly<Record<string, readonly [number, number]>>;

/** The longest known name that occurs in `model` as a whole word: `gpt-5` does not match `gpt-55`. */
function rowWithin(models: Rows, model: string): Rows[string] | undefined {
  let found = "";
  for (const name of Object.keys(models)) {
    const at = model.indexOf(name);
    if (at === -1 || name.length <= found.length) continue;
    if (!/[A-Za-z0-9]/.test(model.charAt(at - 1)) && !/[A-Za-z0-9.]/.test(model.charAt(at + name.length))) found = name;
  }
  return models[found];
}
