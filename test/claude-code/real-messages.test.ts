import { afterEach, describe, expect, it } from "vitest";
import { collectItems, withOpenQuery } from "../../src/backends/claude-code/collect.ts";
import { isMessageOf } from "../../src/backends/claude-code/messages/message.ts";
import { openQuery } from "../../src/backends/claude-code/query.ts";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { openPlace, type Place } from "./place.ts";
import { SDK_MESSAGE_KINDS, SEEN_MESSAGE_KINDS } from "./sdk-message-kinds.ts";

let place: Place | undefined;
afterEach(async () => place?.close());

describe.runIf(locateRealCli() !== undefined)("the messages of the real CLI", () => {
  it("S1-119 … S1-125: every one is of a kind that is listed, and has the fields of its kind", async () => {
    const opened = await openPlace({
      rules: [
        {
          match: { turn: 0 },
          reply: { toolCalls: [{ name: "Bash", input: { command: "echo hi", description: "x" } }] },
        },
        { reply: { text: "finished" } },
      ],
    });
    place = opened;
    const options = { ...realCliOptions(), cwd: opened.home, includePartialMessages: true, allowedTools: ["Bash"] };
    const { items, nonTerminalErrors, terminalError } = await withOpenQuery(
      () => openQuery("go", options, opened.world),
      collectItems,
    );
    expect({ nonTerminalErrors, terminalError }).toEqual({ nonTerminalErrors: [], terminalError: undefined });
    const messages = items.map(({ message }) => message);
    const kinds = [...SDK_MESSAGE_KINDS, ...SEEN_MESSAGE_KINDS];
    expect(messages.filter((message) => !kinds.some((kind) => isMessageOf(message, kind)))).toEqual([]);

    const init = messages.find((message) => isMessageOf(message, "system/init"));
    expect(init?.cwd).toBe(opened.home);
    expect(init?.tools).toContain("Bash");
    const result = messages.find((message) => isMessageOf(message, "result"));
    expect(result).toMatchObject({ subtype: "success", is_error: false, result: "finished", num_turns: 2 });
    expect(result?.session_id).toBe(init?.session_id);
    const blocks = messages.flatMap((message) => (message.type === "assistant" ? message.message.content : []));
    expect(blocks.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))).toEqual(["Bash"]);
    const answers = messages.flatMap((message): readonly unknown[] =>
      message.type === "user" ? [message.message.content].flat() : [],
    );
    expect(answers).toMatchObject([{ type: "tool_result", content: "hi" }]);
    expect(messages.some((message) => isMessageOf(message, "stream_event"))).toBe(true);
  });
});
