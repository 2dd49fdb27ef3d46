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

/** How to reach a host that imitates the API, and in what it differs. */
export interface CompatibleOptions extends BackendOptions {
  /** Up to and including the version: `https://host/v1`. */
  readonly baseUrl: string;
  /** The name shown in events and messages. Default `compatible`. */
  readonly name?: string;
  /** What the host calls the limit of a reply. Default `max_tokens`. */
  readonly limitField?: ProviderProfile["limitField"];
  /** The role of the instructions. Default `system`. */
  readonly instructionsRole?: ProviderProfile["instructionsRole"];
  /** Understands `stream_options.include_usage`. Default true. */
  readonly usageInStream?: boolean;
  /** Understands `parallel_tool_calls`. Default false. */
  readonly parallelToolCalls?: boolean;
}

const COMPATIBLE_CHECKS = {
  name: expects((value) => typeof value === "string" && isId(value), "1 to 64 letters, digits, _ or -"),
  limitField: oneOf(["max_tokens", "max_completion_tokens"]),
  instructionsRole: oneOf(["system", "developer"]),
  usageInStream: aFlag,
  parallelToolCalls: aFlag,
} satisfies Record<Exclude<keyof CompatibleOptions, keyof BackendOptions>, Check>;

/** What makes OpenAI's backends. */
export interface Openai {
  /**
   * A model behind OpenAI's own API. Key and address come from `OPENAI_API_KEY` and `OPENAI_BASE_URL` unless they are
   * given.
   *
   * @throws StartError `missing-key` or `invalid-option`.
   */
  (options: BackendOptions): ModelBackend;
  /**
   * A model behind any host that imitates the chat completions API: a server of one's own, a gateway, another
   * provider. A host without a key is asked without one; no variable is read, so that no other host's key gets there.
   *
   * @throws StartError `invalid-option`.
   * @example
   * const local = openai.compatible({ name: "llama", model: "llama-3.3-70b", baseUrl: "http://127.0.0.1:8080/v1" })
   * const { text } = await run(local, "Say hello").result()
   */
  compatible(options: CompatibleOptions): ModelBackend;
}

/**
 * Makes backends for OpenAI and for the hosts that imitate it.
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
  // Whatever it is called: "openai" is a name like any other here.
  return {
    ...backend,
    hasKnownPrices: false,
    withModel: (other) => createCompatibleBackend({ ...options, model: other }),
  };
}
