import type { ModelBackend } from "#backends";
import { describeValue, type Fetch, StartError } from "#domain";
import { createHttpBackend } from "../backends/http/backend.ts";
import { anthropicHost } from "../dialects/anthropic/profile.ts";
import { geminiHost } from "../dialects/gemini/profile.ts";
import { openaiHost, PROFILES } from "../dialects/openai-chat/profile.ts";
import { DEFAULT_MODELS } from "./default-models.ts";
import { modelLimits } from "./model-limits.ts";
import type { ProviderName, ProviderOptions } from "./options.ts";
import type { World } from "./world.ts";

/** What one provider's backend is made from. */
interface Making {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** The longest reply of the model in tokens, thinking included, where it is known. */
  readonly maxOutputTokens: number | undefined;
}

/** A provider by name: where it is, which variables hold its key and address, and how its backend is made. */
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
 * Makes a provider's backend. What the options leave out comes from the provider's usual variables.
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

/** The prices we know are those at the provider's own address. */
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
  throw new StartError(
    "missing-key",
    `${provider.keyVariables.join(" or ")} is not set, so ${name} cannot be asked. Set it, or pass the option ${name}: { apiKey }. Without a key the backend "offline" works.`,
  );
}

/** A header cannot hold anything else; a key with a line end or a quotation mark round it was copied wrongly. */
export function checkKey(key: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  throw new StartError("invalid-option", `${source} has a blank or a special character in it. Copy the key again.`);
}

function readBaseUrl(name: string, provider: Provider, options: ProviderOptions, world: World): string {
  if (options.baseUrl !== undefined) return checkBaseUrl(options.baseUrl, `The option ${name}.baseUrl`);
  const fromEnv = world.env[provider.baseUrlVariable]?.trim() ?? "";
  const text = fromEnv === "" ? provider.baseUrl : fromEnv;
  if (text !== "") return checkBaseUrl(text, provider.baseUrlVariable);
  throw new StartError(
    "invalid-option",
    `${provider.baseUrlVariable} is not set, and ${name} has no common address. Set it to your own.`,
  );
}

// Every run names its host again, and nearly always the one of the last run.
let lastGood: { readonly text: string; readonly baseUrl: string } | undefined;

/** A base URL without a slash at its end. `source` names where it came from. */
export function checkBaseUrl(text: string, source: string): string {
  if (lastGood?.text !== text) lastGood = { text, baseUrl: readBase(text, source) };
  return lastGood.baseUrl;
}

function readBase(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    // What stands before an @ is a password.
    const shown = describeValue(text.replace(/\/\/[^/]*@/, "//…@"));
    throw new StartError(
      "invalid-option",
      `${source} is ${shown}, which is no http(s) address. Write it as https://host/path.`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new StartError("invalid-option", `${source} has a ? or # in it. Give the address without them.`);
  }
  return text.trim().replace(/\/+$/, "");
}
