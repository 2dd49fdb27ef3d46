/**
 * OpenAI's chat completions API, and the hosts that imitate it, as backends with typed options.
 *
 * @module
 */
import type { ModelBackend } from "#backends";
import { aFlag, type Check, expects, isId, oneOf, StartError } from "#domain";
import { createHttpBackend } from "../backends/http/backend.ts";
import { openaiHost } from "../dialects/openai-chat/profile.ts";
import type { ProviderProfile } from "../dialects/openai-chat/types.ts";
import { type BackendOptions, checkBackendOptions, createProviderBackend, worldFor } from "./backend-options.ts";
import { checkBaseUrl, checkKey } from "./providers.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { systemWorld } from "./world.ts";

export type { BackendOptions } from "./backend-options.ts";

/** How to reach a host that imitates the API, and how it differs. */
export interface CompatibleOptions extends BackendOptions {
  /** Including the version: `https://host/v1`. */
  readonly baseUrl: string;
  /** The name shown in events and messages. Default `compatible`. */
  readonly name?: string;
  /** The host's field for the maximum length of a reply. Default `max_tokens`. */
  readonly limitField?: ProviderProfile["limitField"];
  /** The role of the instructions. Default `system`. */
  readonly instructionsRole?: ProviderProfile["instructionsRole"];
  /** The host supports `stream_options.include_usage`. Default true. */
  readonly usageInStream?: boolean;
  /** The host supports `parallel_tool_calls`. Default false. */
  readonly parallelToolCalls?: boolean;
}

const COMPATIBLE_CHECKS = {
  name: expects((value) => typeof value === "string" && isId(value), "1 to 64 letters, digits, _ or -"),
  limitField: oneOf(["max_tokens", "max_completion_tokens"]),
  instructionsRole: oneOf(["system", "developer"]),
  usageInStream: aFlag,
  parallelToolCalls: aFlag,
} satisfies Record<Exclude<keyof CompatibleOptions, keyof BackendOptions>, Check>;

/** Creates OpenAI's backends. */
export interface Openai {
  /**
   * A model of OpenAI's own API. Key and address default to `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
   *
   * @throws StartError `missing-key` or `invalid-option`.
   */
  (options: BackendOptions): ModelBackend;
  /**
   * A model of any host that imitates the chat completions API: your own server, a gateway, another provider. Without
   * `apiKey`, no key is sent; no variable is read, so that the key of another host is never sent here.
   *
   * @throws StartError `invalid-option`.
   * @example
   * const local = openai.compatible({ name: "llama", model: "llama-3.3-70b", baseUrl: "http://127.0.0.1:8080/v1" })
   * const { text } = await run(local, "Say hello").result()
   */
  compatible(options: CompatibleOptions): ModelBackend;
}

/**
 * Creates backends for OpenAI and for hosts that imitate it.
 *
 * @example
 * import { run } from "millrace"
 * import { openai } from "millrace/openai"
 *
 * const { text } = await run(openai({ model: "gpt-5.6-sol" }), "Say hello").result()
 */
export const openai: Openai = Object.assign((options: BackendOptions) => createProviderBackend("openai", options), {
  compatible: (options: CompatibleOptions) =>
    coverStartErrors(options, systemWorld(), () => createCompatibleBackend(options)),
});

function createCompatibleBackend(options: CompatibleOptions): ModelBackend {
  checkBackendOptions("compatible", options, COMPATIBLE_CHECKS);
  const { name = "compatible", model, apiKey = "", baseUrl } = options;
  if (baseUrl === undefined) {
    throw new StartError("invalid-option", "compatible.baseUrl is not given. Write it as https://host/v1.");
  }
  const { limitField = "max_tokens", instructionsRole = "system" } = options;
  const url = checkBaseUrl(baseUrl, "compatible.baseUrl");
  const host = openaiHost({
    provider: name,
    model,
    apiKey: apiKey.trim() === "" ? "" : checkKey(apiKey.trim(), "compatible.apiKey"),
    baseUrl: url,
    headers: options.headers ?? {},
    profile: {
      baseUrl: url,
      baseUrlVariable: "",
      keyVariable: undefined,
      limitField,
      instructionsRole,
      usageInStream: options.usageInStream ?? true,
      parallelToolCalls: options.parallelToolCalls ?? false,
    },
  });
  const backend = createHttpBackend(host, worldFor(options).fetch);
  // Whatever its name is: even "openai" does not imply OpenAI's prices here.
  return {
    ...backend,
    hasKnownPrices: false,
    withModel: (other) => createCompatibleBackend({ ...options, model: other }),
  };
}
