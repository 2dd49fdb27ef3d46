import type { HostAddress } from "../shared/model-host.ts";

/** How a host differs from the API it imitates. Data: a new host is one row. */
export interface ProviderProfile {
  readonly baseUrl: string;
  /** The variable with the key; `undefined` when the host needs none. */
  readonly keyVariable: string | undefined;
  /** The variable that moves the base URL. */
  readonly baseUrlVariable: string;
  readonly limitField: "max_completion_tokens" | "max_tokens";
  readonly instructionsRole: "system" | "developer";
  /** Understands `stream_options.include_usage`. */
  readonly usageInStream: boolean;
  /** Understands `parallel_tool_calls`. */
  readonly parallelToolCalls: boolean;
  /** Understands `response_format` with a JSON Schema. Left out: it does not, or not every model behind it. */
  readonly outputForm?: OutputForm;
  /** How to say how much a model may think. Left out: the host cannot be told. */
  readonly thinking?: ThinkingWords;
}

export interface OutputForm {
  /** Whether it can be told to keep to the schema strictly, as far as it understands it. */
  readonly strict: boolean;
  /** The models that do not understand it. */
  readonly except?: RegExp;
}

/** `effort`: low, medium or high, taken by these models; `tokens`: a number, taken for every model. */
export type ThinkingWords = { readonly kind: "effort"; readonly models: RegExp } | { readonly kind: "tokens" };

export interface OpenaiOptions extends HostAddress {
  readonly model: string;
  readonly provider: string;
  readonly profile: ProviderProfile;
}
