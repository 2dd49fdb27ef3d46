import type {
  ClaudeCodeMessage,
  ClaudeCodeMessageOf,
  ContentBlock,
  QueryItem,
  UnlistedMessage,
} from "millrace/claude-code";
import { describe, expectTypeOf, it } from "vitest";

// Types only: nothing here is run.
const typesOnly = (_: (message: ClaudeCodeMessage, item: QueryItem) => unknown): void => undefined;

describe("S1-119: a message of query() is known by its type", () => {
  it("S1-122 S1-123: an assistant's, with its blocks", () => {
    typesOnly((message) => {
      if (message.type !== "assistant") return;
      expectTypeOf(message).toEqualTypeOf<ClaudeCodeMessageOf<"assistant">>();
      expectTypeOf(message.message.content).toEqualTypeOf<readonly ContentBlock[]>();
      expectTypeOf(message.parent_tool_use_id).toEqualTypeOf<string | null | undefined>();
      for (const block of message.message.content) {
        if (block.type === "text") expectTypeOf(block.text).toEqualTypeOf<string>();
        if (block.type === "tool_use") expectTypeOf(block.name).toEqualTypeOf<string>();
      }
    });
  });

  it("S1-121: a system's, by its subtype too", () => {
    typesOnly((message) => {
      if (message.type !== "system") return;
      switch (message.subtype) {
        case "init":
          expectTypeOf(message).toEqualTypeOf<ClaudeCodeMessageOf<"system/init">>();
          expectTypeOf(message.model).toEqualTypeOf<string | undefined>();
          break;
        case "api_retry":
          expectTypeOf(message.retry_delay_ms).toEqualTypeOf<number | undefined>();
          break;
        default:
      }
    });
  });

  it("S1-124 S1-125: a user's and a result", () => {
    typesOnly((message) => {
      if (message.type === "user") expectTypeOf(message.message.content).toExtend<string | readonly ContentBlock[]>();
      if (message.type !== "result") return;
      expectTypeOf(message.result).toEqualTypeOf<string | undefined>();
      expectTypeOf(message.total_cost_usd).toEqualTypeOf<number | undefined>();
      expectTypeOf(message.permission_denials?.[0]?.tool_name).toEqualTypeOf<string | undefined>();
    });
  });

  it("S1-128: fields that nobody has named are unknown, and so is a message of another type", () => {
    typesOnly((message, item) => {
      if (message.type === "result") expectTypeOf(message["brand_new"]).toEqualTypeOf<unknown>();
      if (item.kind === "error") expectTypeOf(item.message).toEqualTypeOf<UnlistedMessage | undefined>();
      expectTypeOf<UnlistedMessage["anything"]>().toEqualTypeOf<unknown>();
    });
  });
});
