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
}

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
  },
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    baseUrlVariable: "OPENROUTER_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: true,
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
