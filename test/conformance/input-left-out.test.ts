import { describe, expect, it } from "vitest";
import { command, type InputMessage, isStartError, run } from "../../src/index.ts";
import { ALL_TARGETS, openStage } from "./targets.ts";

const user = (...blocks: readonly unknown[]): readonly InputMessage[] =>
  [{ role: "user", blocks: [{ type: "text", text: "Look" }, ...blocks] }] as readonly InputMessage[];

/** Input that used to be left out, or sent as nobody takes it. */
const ROWS: readonly (readonly [string, readonly InputMessage[], RegExp])[] = [
  [
    "a call in a user's message",
    user({ type: "tool-call", callId: "c", name: "t", input: {} }),
    /blocks\[1\].*assistant/,
  ],
  ["thinking in a user's message", user({ type: "thinking", text: "hm" }), /blocks\[1\].*assistant/],
  ["a result without its call", user({ type: "tool-result", callId: "c9", output: 1 }), /"c9".*no such call/],
  ["a file of this machine", user({ type: "image", url: "file:///etc/passwd" }), /file: addresses.*base64/],
  ["no address at all", user({ type: "document", url: "notes.pdf" }), /data/],
  [
    "calls in another library's field",
    [
      { role: "user", content: "a" },
      { role: "assistant", content: "b", tool_calls: [{}] },
      { role: "user", content: "c" },
    ] as never,
    /input\[1\]\.tool_calls.*tool-call/,
  ],
  ["content beside blocks", [{ role: "user", content: "a", blocks: [] }] as never, /content and blocks/],
];

describe("F-C6 F-D7: input that cannot be sent is rejected by name, never omitted", () => {
  it.each(ALL_TARGETS)("$name", async (target) => {
    const stage = await openStage();
    try {
      for (const [what, input, message] of ROWS) {
        let thrown: unknown;
        try {
          await stage.start(target, input).result();
        } catch (error) {
          thrown = error;
        }
        expect(isStartError(thrown) && thrown.message, what).toMatch(message);
      }
    } finally {
      await stage.close();
    }
  });

  it("a command gets text only", () => {
    const picture = { type: "image", mediaType: "image/png", data: "aGk=" };
    expect(() => run(command(["cat"], { format: "text" }), user(picture))).toThrow(/image.*command.*text alone/);
  });

  it("a result after its call is sent", async () => {
    const input = [
      { role: "user", content: "What is 1 + 2?" },
      { role: "assistant", blocks: [{ type: "tool-call", callId: "c1", name: "add", input: {} }] },
      { role: "user", blocks: [{ type: "tool-result", callId: "c1", output: 3 }] },
    ] as readonly InputMessage[];
    expect((await run("offline", input).result()).status).toBe("success");
  });
});
