import type { Block } from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString, ownValue, parseJson } from "#wire";
import type { PromptTool, ToolChoice } from "../prompt.ts";

/** Reads an offered function. */
export function readFunction(fields: JsonRecord): PromptTool | undefined {
  const name = ownString(fields, "name");
  if (name === undefined) return undefined;
  return { name, description: ownString(fields, "description") ?? "", schema: ownRecord(fields, "parameters") ?? {} };
}

export function readToolChoice(choice: unknown, named: string | undefined): ToolChoice {
  if (named !== undefined) return { type: "tool", name: named };
  if (choice === "none" || choice === "required") return { type: choice };
  return { type: "auto" };
}

/** A call in a reply that was sent back. Arguments that are not JSON stay text. */
export function readCallBlock(callId: string, name: string, text: string): Block {
  const parsed = parseJson(text === "" ? "{}" : text);
  return { type: "tool-call", callId, name, input: parsed.fault === undefined ? parsed.value : text };
}

/** The content of a message: a string, or parts whose text has one of several type names. */
export function readContent(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((part): Block => {
    const text = isRecord(part) ? ownString(part, "text") : undefined;
    return text === undefined ? { type: "unknown", raw: part } : { type: "text", text };
  });
}

/** A tool's output, as one string if it is text. */
export function readToolOutput(content: unknown): unknown {
  const blocks = readContent(content);
  return blocks.length > 0 && blocks.every((block) => block.type === "text") ? textOf(blocks) : (content ?? "");
}

export function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** The schema for the answer; `{}` for any JSON object. */
export function readFormat(type: unknown, fields: JsonRecord): JsonRecord | undefined {
  if (type === "json_object") return {};
  return type === "json_schema" ? (ownRecord(fields, "schema") ?? {}) : undefined;
}

/** Whether the request enables reasoning, with the field of any host that uses this protocol. */
export function asksForReasoning(body: JsonRecord): boolean {
  const effort = ownString(body, "reasoning_effort");
  if (effort !== undefined) return effort !== "none" && effort !== "minimal";
  const thinking = ownRecord(body, "thinking");
  if (thinking !== undefined) return thinking.type === "enabled";
  const reasoning = ownValue(body, "reasoning");
  return (
    isRecord(reasoning) && reasoning.enabled !== false && reasoning.effort !== "none" && reasoning.effort !== "minimal"
  );
}
