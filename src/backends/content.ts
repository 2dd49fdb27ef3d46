import type { Block, Message } from "#domain";

/** A tool's output as text, for vendors that take nothing else. */
export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  return JSON.stringify(output) ?? "";
}

/** A tool call's arguments as the object vendors insist on. A model's garbage (kept as text) becomes an empty one. */
export function inputObject(input: unknown): object {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}

/** The blocks a tool returned, when it returned content instead of a value. */
export function contentBlocks(output: unknown): readonly Block[] | undefined {
  if (!Array.isArray(output) || output.length === 0) return undefined;
  return output.every(isContentBlock) ? (output as Block[]) : undefined;
}

function isContentBlock(value: unknown): value is Block {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "text") return "text" in value && typeof value.text === "string";
  return (value.type === "image" || value.type === "document") && ("data" in value || "url" in value);
}

/**
 * The transcript with neighbours of one role joined: vendors want roles to alternate, and a user may speak right
 * after tool results.
 */
export function joinRoles(messages: readonly Message[]): readonly Pick<Message, "role" | "blocks">[] {
  const joined: { role: Message["role"]; blocks: Block[] }[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === message.role) last.blocks.push(...message.blocks);
    else joined.push({ role: message.role, blocks: [...message.blocks] });
  }
  return joined;
}
