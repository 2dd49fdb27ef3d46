import type { ProviderName } from "./options.ts";

/**
 * The model that is asked when a backend string names none: `anthropic` is `anthropic/claude-sonnet-4-6`. The one place
 * that holds them; a test compares them with the vendors' own lists, so that one that is to end is noticed in time.
 */
export const DEFAULT_MODELS: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: "claude-sonnet-4-6",
  openai: "gpt-5.6-sol",
  deepseek: "deepseek-v4-pro",
  google: "gemini-3.8-flash",
};
