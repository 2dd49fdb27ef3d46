/**
 * Anthropic's Messages API as a backend with typed options.
 *
 * @module
 */
import type { ModelBackend } from "#backends";
import { type BackendOptions, createProviderBackend } from "./backend-options.ts";

export type { BackendOptions } from "./backend-options.ts";

/**
 * A model of Anthropic's Messages API. Key and address default to `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`. Nothing
 * is opened before the first request.
 *
 * @throws StartError `missing-key` or `invalid-option`.
 * @example
 * import { run } from "millrace"
 * import { anthropic } from "millrace/anthropic"
 *
 * const backend = anthropic({ model: "claude-sonnet-4-6", headers: { "anthropic-beta": "context-1m-2025-08-07" } })
 * const { text } = await run(backend, "Say hello").result()
 */
export function anthropic(options: BackendOptions): ModelBackend {
  return createProviderBackend("anthropic", options);
}
