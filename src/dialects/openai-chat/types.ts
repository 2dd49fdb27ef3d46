import type { HostAddress } from "../shared/model-host.ts";

/** How a host differs from the API it imitates. Data: a new host is one row. */
export interface ProviderProfile {
  readonly baseUrl: string;
  /** The environment variable with the key; `undefined` if the host needs none. */
  readonly keyVariable: string | undefined;
  /** The environment variable that overrides the base URL. */
  readonly baseUrlVariable: string;
  readonly limitField: "max_completion_tokens" | "max_tokens";
  readonly instructionsRole: "system" | "developer";
  /** Supports `stream_options.include_usage`. */
  readonly usageInStream: boolean;
  /** Supports `parallel_tool_calls`. */
  readonly parallelToolCalls: boolean;
  /** Supports `response_format` with a JSON Schema. Absent: not supported, or not by every model of the host. */
  readonly outputForm?: OutputForm;
  /** How to set the amount of thinking. Absent: the host has no such setting. */
  readonly thinking?: ThinkingWords;
}

export interface OutputForm {
  /** Whether strict adherence to the schema can be requested, as far as the host supports its features. */
  readonly strict: boolean;
  /** The models that do not support it. */
  readonly except?: RegExp;
}

/** `effort`: low, medium or high, for these models; `tokens`: a number, for every model. */
export type ThinkingWords = { readonly kind: "effort"; readonly models: RegExp } | { readonly kind: "tokens" };

export interface OpenaiOptions extends HostAddress {
  readonly model: string;
  readonly provider: string;
  readonly profile: ProviderProfile;
}
