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

/** The hosts that are known by name. Any other is reached with `openai` and a base URL of its own. */
export const PROFILES = {
  openai: {
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    limitField: "max_completion_tokens",
    instructionsRole: "developer",
    usageInStream: true,
    parallelToolCalls: true,
    outputForm: { strict: true, except: /^(gpt-3|gpt-4(-|$)|gpt-4o-2024-05-13|chatgpt-|o1-(mini|preview))/ },
    thinking: { kind: "effort", models: /^(gpt-5(?!.*chat)|gpt-[6-9](?!.*chat)|o1(?!-mini|-preview)|o[3-9])/ },
  },
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    baseUrlVariable: "OPENROUTER_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: true,
    // No `outputForm`: hosts behind it that do not understand the field ignore it, while tools are only sent to hosts
    // that have them.
    thinking: { kind: "tokens" },
  },
  deepseek: {
    baseUrl: "https://api.deepseek.com/v1",
    keyVariable: "DEEPSEEK_API_KEY",
    baseUrlVariable: "DEEPSEEK_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
  },
  vllm: {
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariable: undefined,
    baseUrlVariable: "VLLM_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
    outputForm: { strict: false },
  },
  modal: {
    // Every Modal app has an address of its own; there is no common one.
    baseUrl: "",
    keyVariable: "MODAL_API_KEY",
    baseUrlVariable: "MODAL_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
  },
} as const satisfies Record<string, ProviderProfile>;
