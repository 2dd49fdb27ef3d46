import { type AdapterOptions, claudeCode, type ClaudeCodeAdapter, createDecoder, type Decoder } from "#dialects";
import { limitLines } from "./line-limit.ts";

/** A decoder for the output of one CLI process, and its adapter, which has more state than its chunks show. */
export function createCliDecoder(
  options: AdapterOptions,
  keepRaw: boolean,
  maxLineBytes: number | undefined,
): { readonly decoder: Decoder; readonly adapter: ClaudeCodeAdapter } {
  const adapter = claudeCode.createAdapter(keepRaw ? { ...options, keepRaw } : options);
  const format = { ...claudeCode, createAdapter: () => adapter };
  return { decoder: createDecoder(format, { keepRaw, ...limitLines(maxLineBytes) }), adapter };
}
