import { MODEL_TABLE } from "./model-table.ts";

/** What a model can take and give, in tokens. */
export interface ModelLimits {
  /** Everything one request may hold: instructions, tools, transcript and reply. */
  readonly contextTokens: number;
  /** The longest reply, thinking included. */
  readonly outputTokens: number;
}

/**
 * The limits of a provider's model; `undefined` when nobody knows it. A name with more around it is the model it holds:
 * `us.anthropic.claude-opus-5-v1:0`, `claude-opus-5@20260501`.
 */
export function modelLimits(provider: string, model: string): ModelLimits | undefined {
  const models = Object.hasOwn(MODEL_TABLE, provider) ? MODEL_TABLE[provider] : undefined;
  if (models === undefined) return undefined;
  const row = Object.hasOwn(models, model) ? models[model] : rowWithin(models, model);
  return row === undefined ? undefined : { contextTokens: row[0], outputTokens: row[1] };
}

type Rows = Readonly<Record<string, readonly [number, number]>>;

/** The longest known name that stands in `model` as a whole word: `gpt-5` is not in `gpt-55`. */
function rowWithin(models: Rows, model: string): Rows[string] | undefined {
  let found = "";
  for (const name of Object.keys(models)) {
    const at = model.indexOf(name);
    if (at === -1 || name.length <= found.length) continue;
    if (!/[A-Za-z0-9]/.test(model.charAt(at - 1)) && !/[A-Za-z0-9.]/.test(model.charAt(at + name.length))) found = name;
  }
  return models[found];
}
