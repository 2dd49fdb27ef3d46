import { nearestName } from "#domain";
import { MODEL_TABLE } from "./model-table.ts";

/**
 * Programs that serve models on this machine with OpenAI's protocol, and their addresses. They are reached as `vllm`.
 */
const LOCAL_SERVERS: Readonly<Record<string, string>> = {
  ollama: "http://127.0.0.1:11434/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
  "lm-studio": "http://127.0.0.1:1234/v1",
  llamacpp: "http://127.0.0.1:8080/v1",
  "llama.cpp": "http://127.0.0.1:8080/v1",
  "llama-cpp": "http://127.0.0.1:8080/v1",
  localai: "http://127.0.0.1:8080/v1",
};

/** Common names for a provider, and Claude Code's own names for its models. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  gpt: "openai",
  chatgpt: "openai",
  gemini: "google",
  claude: "claude-code",
  claudecode: "claude-code",
  sonnet: "claude-code/sonnet",
  opus: "claude-code/opus",
  haiku: "claude-code/haiku",
};

/**
 * The backend string of a model that was named without its provider: an exact match, otherwise the most similar name.
 */
export function backendOfModel(name: string): string | undefined {
  const known = Object.entries(MODEL_TABLE);
  for (const [provider, models] of known) if (Object.hasOwn(models, name)) return `${provider}/${name}`;
  // A word without a digit is not a model's name, and would be similar to many.
  if (!/\d/.test(name)) return undefined;
  const near = nearestName(
    name,
    known.flatMap(([, models]) => Object.keys(models)),
  );
  const owner = near === undefined ? undefined : known.find(([, models]) => Object.hasOwn(models, near))?.[0];
  return owner === undefined ? undefined : `${owner}/${near}`;
}

/** A sentence that suggests what to write instead of an unknown backend string; `""` when nothing is similar. */
export function suggestBackend(text: string, backends: readonly string[]): string {
  const slash = text.indexOf("/");
  const name = (slash === -1 ? text : text.slice(0, slash)).toLowerCase();
  const model = slash === -1 ? "" : text.slice(slash);
  const address = Object.hasOwn(LOCAL_SERVERS, name) ? LOCAL_SERVERS[name] : undefined;
  if (address !== undefined) {
    return `It uses OpenAI's protocol: set VLLM_BASE_URL=${address} and write vllm${model === "" ? "/<model>" : model}.`;
  }
  const also = Object.hasOwn(ALSO_CALLED, name) ? ALSO_CALLED[name] : undefined;
  const near =
    (also === undefined ? undefined : `${also}${also.includes("/") ? "" : model}`) ??
    (slash === -1 ? backendOfModel(text) : undefined) ??
    nearestName(name, backends);
  return near === undefined ? "" : `Did you mean "${near}"?`;
}
