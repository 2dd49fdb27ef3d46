import type { ModelBackend, ModelRequest } from "#backends";
import {
  type Block,
  type Chunk,
  errorItem,
  messageItem,
  noticeItem,
  retractNotice,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
} from "#domain";

/** A model for browser tests: what it does is said by the first word it is asked. Slow answers wait for the test. */
export interface Scenario {
  readonly backend: ModelBackend;
  /** Lets every answer that waits go on, and from now on all others. */
  release(): void;
  /** Lets it wait again. */
  hold(): void;
  /** Answers under this word are this text, in pieces of one character or more. */
  readonly texts: Map<string, string>;
}

export const RICH_TEXT = `Here is a **short plan**, with \`code\` and a [link](https://example.org/docs).

## Steps

1. Read the file
2. Change *one* line
3. Run the tests

- [x] done
- [ ] not done

\`\`\`ts
export function add(left: number, right: number): number {
  return left + right;
}
\`\`\`

| Name | Size |
|:-----|-----:|
| a.ts | 120 |
| b.ts | 4 096 |

> A remark that is a little longer than one line, so that one can see how quotations are set in this page.

![chart](https://images.invalid/chart.png)
`;

const DRIPS = 120;
/** What `drip` says, word by word, for about two seconds. */
export const DRIPPED = Array.from({ length: DRIPS }, (_, word) => `w${word} `).join("");

export function createScenario(name = "scripted", model = "test-model-1"): Scenario {
  const texts = new Map<string, string>();
  let isHeld = true;
  let waiting: (() => void)[] = [];
  let count = 0;
  const released = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (!isHeld || signal.aborted) resolve();
      waiting.push(resolve);
      signal.addEventListener("abort", () => resolve());
    });

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly Chunk[]> {
    count += 1;
    const id = `m-${name}-${count}`;
    const last = request.messages.at(-1);
    const results = last?.blocks.filter((block) => block.type === "tool-result") ?? [];
    if (results.length > 0) {
      yield* say(id, `The tool said: ${results.map((block) => JSON.stringify(block.output)).join(", ")}.`);
      return;
    }
    const asked = last?.blocks.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
    const [word = ""] = asked.split(" ");
    const text = texts.get(word);
    if (text !== undefined) return yield* say(id, text);
    switch (word) {
      case "slow":
        yield [textDelta(id, 0, "The first half")];
        await released(signal);
        if (signal.aborted) return;
        yield [
          textDelta(id, 0, " and the second half."),
          whole(id, [{ type: "text", text: "The first half and the second half." }]),
        ];
        return;
      case "drip":
        for (let word = 0; word < DRIPS; word += 1) {
          yield [textDelta(id, 0, `w${word} `)];
          await new Promise((resolve) => setTimeout(resolve, 15));
        }
        yield [whole(id, [{ type: "text", text: DRIPPED }])];
        return;
      case "think":
        yield [thinkingDelta(id, 0, "First I look at "), thinkingDelta(id, 0, "the question.")];
        yield [
          textDelta(id, 1, "I have thought."),
          whole(id, [
            { type: "thinking", text: "First I look at the question." },
            { type: "text", text: "I have thought." },
          ]),
        ];
        return;
      case "add":
        return yield* call(id, "I will add them.", [["add", { a: 25, b: 17 }]]);
      case "break":
        return yield* call(id, "", [["broken", { path: "/tmp/x" }]]);
      case "delete":
        return yield* call(id, "That needs permission.", [
          ["delete_file", { path: "/srv/reports/2024.csv", force: true }],
        ]);
      case "remove":
        return yield* call(id, "", [["delete_file", { path: asked }]]);
      case "wait":
        return yield* call(id, "I look at the report first.", [["read_report", { path: "/srv/reports/2024.csv" }]]);
      case "draw":
        return yield* call(id, "I draw it.", [["draw", { title: "Sales" }]]);
      case "review":
        return yield* call(id, "Somebody has to look at it.", [["review", {}]]);
      case "rest":
        return yield* call(id, "", [["rest", {}]]);
      case "nothing":
        yield [whole(id, [])];
        return;
      case "retract":
        yield [textDelta(id, 0, "This is wrong, because")];
        yield [
          retractNotice({ messageId: id }),
          noticeItem("retry", { attempt: 2, attempts: 3, message: "the stream was cut" }),
        ];
        return yield* say(`${id}-again`, "This is right.");
      case "both":
        return yield* call(id, "", [
          ["delete_file", { path: "a.txt" }],
          ["delete_file", { path: "b.txt" }],
        ]);
      case "handoff":
        return yield* call(id, "", [["handoff", { to: "billing", message: "The customer was charged twice." }]]);
      case "The":
        return yield* say(id, "Billing here. I have refunded it.");
      case "retry":
        yield [noticeItem("rate-limit", {}), noticeItem("stall", { silentMs: 12_000 })];
        return yield* say(id, "At last.");
      case "fail":
        yield [textDelta(id, 0, "I begin, and")];
        yield [
          errorItem({
            code: "provider-auth",
            message: "The provider refused the key (401).",
            terminal: true,
            diagnostic: {
              hint: "The key is missing, wrong or has been revoked.",
              troubleshooting: "Check ANTHROPIC_API_KEY.\nMake a new key in the provider's console.",
              seen: '{"error":{"type":"authentication_error"}}',
            },
          }),
        ];
        return;
      default:
        return yield* say(id, `You said: ${asked}`);
    }
  }

  return {
    texts,
    backend: { kind: "model", name, model, stream },
    release() {
      isHeld = false;
      for (const go of waiting) go();
      waiting = [];
    },
    hold() {
      isHeld = true;
    },
  };
}

function whole(id: string, blocks: readonly Block[]): Chunk {
  const stopReason = blocks.some((block) => block.type === "tool-call") ? "tool-use" : "end-turn";
  return messageItem({ id, role: "assistant", blocks, stopReason, usage: { inputTokens: 1250, outputTokens: 88 } });
}

async function* say(id: string, text: string): AsyncGenerator<readonly Chunk[]> {
  // Several batches with a turn of the event loop between, so that the page sees text being written.
  const size = Math.max(1, Math.ceil(text.length / 40));
  for (let at = 0; at < text.length; at += size) {
    yield [textDelta(id, 0, text.slice(at, at + size))];
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield [whole(id, [{ type: "text", text }])];
}

async function* call(
  id: string,
  text: string,
  calls: readonly (readonly [name: string, input: unknown])[],
): AsyncGenerator<readonly Chunk[]> {
  const named = calls.map(([name, input], index) => ({ callId: `${id}-call-${index}`, name, input }));
  const first = text === "" ? 0 : 1;
  yield [
    ...(text === "" ? [] : [textDelta(id, 0, text)]),
    ...named.map((one, index) => toolInputDelta(id, first + index, one, JSON.stringify(one.input))),
    whole(id, [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...named.map((one): Block => ({ type: "tool-call", ...one })),
    ]),
    ...named.map((one) => toolCallItem({ ...one, executedBy: "millrace" })),
  ];
}
