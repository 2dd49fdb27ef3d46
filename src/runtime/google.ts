/**
 * Google's Gemini API as a backend with typed options.
 *
 * @module
 */
import type { ModelBackend } from "#backends";
import { type BackendOptions, createProviderBackend } from "./backend-options.ts";

export type { BackendOptions } from "./backend-options.ts";

/**
 * A model of Google's Gemini API. Key and address default to `GEMINI_API_KEY` (or `GOOGLE_API_KEY`) and
 * `GOOGLE_GEMINI_BASE_URL`. The key is sent in a header, never in the URL.
 *
 * @throws StartError `missing-key` or `invalid-option`.
 * @example
 * import { run } from "millrace"
 * import { google } from "millrace/google"
 *
 * const { text } = await run(google({ model: "gemini-3.8-flash" }), "Say hello").result()
 */
export function google(options: BackendOptions): ModelBackend {
  return createProviderBackend("google", options);
}
