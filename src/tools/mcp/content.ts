import { isRecord } from "#domain";
import type { Outcome } from "../outcome.ts";
import { ownOf } from "./json-rpc.ts";

/** One part of a tool's answer in MCP's notation. */
export type McpContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** The answer to `tools/call`. */
export interface McpCallResult {
  readonly content: readonly McpContent[];
  readonly isError?: true;
}

/**
 * A tool's outcome as MCP content. Text stays text; a list of our own `text` and inline `image` blocks becomes those
 * parts; any other value becomes its JSON text. Never empty: some clients treat an empty list as no answer at all.
 */
export function toCallResult(outcome: Pick<Outcome, "output"> & { readonly isError: boolean }): McpCallResult {
  const content = toContent(outcome.output);
  return outcome.isError ? { content, isError: true } : { content };
}

function toContent(output: unknown): readonly McpContent[] {
  if (typeof output === "string") return [{ type: "text", text: output }];
  const blocks = Array.isArray(output) && output.length > 0 ? output.map(toPart) : [undefined];
  const parts = blocks.filter((part) => part !== undefined);
  // One unknown block makes the whole list an ordinary value, because showing only part of it would be wrong.
  return parts.length === blocks.length ? parts : [{ type: "text", text: JSON.stringify(output) ?? "" }];
}

function toPart(block: unknown): McpContent | undefined {
  if (!isRecord(block)) return undefined;
  const type = ownOf(block, "type");
  const text = ownOf(block, "text");
  if (type === "text" && typeof text === "string") return { type: "text", text };
  const data = ownOf(block, "data");
  const mimeType = ownOf(block, "mediaType") ?? ownOf(block, "mimeType");
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") {
    return { type: "image", data, mimeType };
  }
  return undefined;
}
