import {
  type Block,
  type Chunk,
  errorItem,
  messageItem,
  noticeItem,
  resultItem,
  retractNotice,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
} from "#domain";
import type { Guard, GuardAnswer, Guarded, OutputMode } from "#policy";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../effort.ts";
import { openTrial, type Trial } from "./place.ts";

const WINDOW: OutputMode = { windowCharacters: 5 };

function openGate(
  outputMode: OutputMode,
  check: (content: Guarded) => GuardAnswer | Promise<GuardAnswer>,
  more: readonly Guard[] = [],
) {
  const trial = openTrial({ guards: [{ name: "g", place: "output", check }, ...more], outputMode });
  return { ...trial, gate: trial.policy.createOutputGate() };
}

const message = (id: string, ...blocks: Block[]): Chunk => messageItem({ id, role: "assistant", blocks });
const text = (value: string): Block => ({ type: "text", text: value });

/** Chunks as short lines. */
function show(chunks: readonly Chunk[]): readonly string[] {
  return chunks.map((chunk) => {
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta":
        return `${chunk.messageId}${chunk.index}:${chunk.text}`;
      case "message":
        return `${chunk.id}=${chunk.blocks.map((block) => ("text" in block ? block.text : block.type)).join("/")}`;
      case "notice":
        return chunk.kind;
      default:
        return chunk.type;
    }
  });
}

const hide = ({ text: given }: Guarded): GuardAnswer =>
  given.includes("secret") ? { deny: "It holds a secret." } : undefined;
const redact = ({ text: given }: Guarded): GuardAnswer => ({ replace: given.replaceAll("secret", "***") });

describe("AT-61 C23: buffer", () => {
  it("shows nothing until the whole message has passed, then all of it in its order", async () => {
    const seen: string[] = [];
    const { gate } = openGate("buffer", ({ text: given }) => void seen.push(given));
    const chunks = [
      textDelta("m", 0, "a"),
      noticeItem("n", 1),
      textDelta("m", 0, "b"),
      toolInputDelta("m", 1, { callId: "c", name: "t" }, "{}"),
    ];
    expect(await gate.pass(chunks)).toEqual([]);
    const call = toolCallItem({ callId: "c", name: "t", input: {}, executedBy: "millrace" });
    const end = [message("m", text("ab"), { type: "tool-call", callId: "c", name: "t", input: {} }), call];
    expect(await gate.pass(end)).toEqual([...chunks, ...end]);
    expect(seen).toEqual(["ab"]);
  });

  it("a denial: not one character, not of the message either, and nothing after it", async () => {
    const { gate, written } = openGate("buffer", hide);
    const early = [message("m0", text("fine"))];
    expect(
      await gate.pass([
        ...early,
        textDelta("m", 0, "a secr"),
        textDelta("m", 0, "et"),
        message("m", text("a secret")),
        noticeItem("n", 1),
      ]),
    ).toEqual(early);
    expect(gate.denial).toEqual({ guard: "g", reason: "It holds a secret." });
    expect(await gate.pass([message("m2", text("more")), noticeItem("n", 1)])).toEqual([]);
    expect(JSON.stringify(written)).not.toContain("a secret");
  });

  it("a replacement stands in deltas and message alike, and what vouched for the old text is gone", async () => {
    const { gate } = openGate("buffer", redact);
    const item = messageItem({
      id: "m",
      role: "assistant",
      blocks: [
        { type: "thinking", text: "secret", signature: "s", vendor: "v" },
        text("a sec"),
        { type: "tool-call", callId: "c", name: "t", input: {} },
        text("ret!"),
      ],
      raw: { text: "a secret!" } as never,
      usage: { inputTokens: 1 },
    });
    const out = await gate.pass([
      thinkingDelta("m", 0, "sec"),
      thinkingDelta("m", 0, "ret"),
      textDelta("m", 1, "a sec"),
      textDelta("m", 3, "ret!"),
      item,
    ]);
    expect(show(out)).toEqual(["m0:***", "m1:a ***!", "m=***/a ***!/tool-call/"]);
    expect(JSON.stringify(out)).not.toMatch(/secret|signature|raw/);
    expect(out.at(-1)).toMatchObject({ usage: { inputTokens: 1 } });
  });

  it("the message is what guards see: deltas that say something else do not come out", async () => {
    const { gate } = openGate("buffer", hide);
    expect(
      show(await gate.pass([textDelta("m", 0, "secret"), textDelta("m", 7, "secret"), message("m", text("fine"))])),
    ).toEqual(["m0:fine", "m=fine"]);
  });
});

describe("C23: window", () => {
  it("holds back a bounded piece and shows it when it has passed", async () => {
    const seen: [string, string][] = [];
    const { gate } = openGate(WINDOW, ({ text: given, before }) => void seen.push([before, given]));
    expect(show(await gate.pass([textDelta("m", 0, "abc")]))).toEqual([]);
    expect(show(await gate.pass([textDelta("m", 0, "def")]))).toEqual(["m0:abc", "m0:def"]);
    expect(show(await gate.pass([textDelta("m", 0, "gh"), message("m", text("abcdefgh"))]))).toEqual([
      "m0:gh",
      "m=abcdefgh",
    ]);
    expect(seen).toEqual([
      ["", "abcdef"],
      ["abcdef", "gh"],
    ]);
  });

  it("a block ends where the next one begins; tool input waits for the text before it", async () => {
    const { gate } = openGate(WINDOW, redact);
    const out = await gate.pass([
      thinkingDelta("m", 0, "hm"),
      textDelta("m", 1, "se"),
      noticeItem("n", 1),
      textDelta("m", 1, "cret"),
      toolInputDelta("m", 2, { callId: "c", name: "t" }, "{"),
    ]);
    expect(show(out)).toEqual(["m0:hm", "m1:***", "n", "tool-input-delta"]);
    expect(
      show(await gate.pass([message("m", { type: "thinking", text: "hm", signature: "s" }, text("secret"))])),
    ).toEqual(["m=hm/***"]);
  });

  it("a denial: what had passed stays, the piece and everything after it is withheld", async () => {
    const { gate } = openGate(WINDOW, hide);
    const out = await gate.pass([
      textDelta("m", 0, "all is fine "),
      textDelta("m", 0, "se"),
      textDelta("m", 0, "cret!"),
      textDelta("m", 0, "more and more"),
    ]);
    expect(show(out)).toEqual(["m0:all is fine "]);
    expect(await gate.pass([message("m", text("all is fine secret!more and more"))])).toEqual([]);
    expect(gate.denial?.guard).toBe("g");
  });

  it("a message that says more than its deltas has the rest checked, and one that says something else is not believed", async () => {
    const { gate } = openGate(WINDOW, redact);
    expect(show(await gate.pass([textDelta("m", 0, "ab"), message("m", text("ab secret"))]))).toEqual([
      "m0:ab",
      "m0: ***",
      "m=ab ***",
    ]);
    expect(show(await gate.pass([textDelta("n", 0, "ab"), message("n", text("secret"))]))).toEqual(["n0:ab", "n=ab"]);
    expect(show(await gate.pass([message("o", text("no deltas, a secret"))]))).toEqual(["o=no deltas, a ***"]);
  });
});

describe.each([
  ["buffer", "buffer"],
  ["window", WINDOW],
] as const)("%s", (_title, mode) => {
  it("sub-agents are guarded too, and none waits for another", async () => {
    const { gate } = openGate(mode, redact);
    const out = await gate.pass([
      textDelta("s", 0, "sec", "call-1"),
      textDelta("m", 0, "hi"),
      message("m", text("hi")),
      noticeItem("n", 1),
    ]);
    expect(show(out)).toEqual(["m0:hi", "m=hi", "n"]);
    const item = messageItem({ id: "s", role: "assistant", blocks: [text("secret")], parent: "call-1" });
    const rest = await gate.pass([textDelta("s", 0, "ret", "call-1"), item]);
    expect(show(rest)).toEqual(["s0:***", "s=***"]);
    expect(rest).toMatchObject([{ parent: "call-1" }, { parent: "call-1" }]);
  });

  it("several guards look one after the other", async () => {
    const seen: string[] = [];
    const { gate } = openGate(mode, redact, [
      { name: "h", place: "output", check: ({ text: given }): GuardAnswer => void seen.push(given) },
    ]);
    expect(show(await gate.pass([textDelta("m", 0, "secret"), message("m", text("secret"))]))).toEqual([
      "m0:***",
      "m=***",
    ]);
    expect(seen).toEqual(["***"]);
  });

  it("a reply that broke off is dropped, and what waited after it is emitted", async () => {
    const { gate } = openGate(mode, () => undefined);
    await gate.pass([textDelta("m", 0, "ab"), noticeItem("n", 1)]);
    gate.drop("m");
    expect(show(await gate.pass([]))).toEqual(["n"]);
    expect(show(await gate.pass([textDelta("m", 0, "cd"), message("m", text("cd"))]))).toEqual(["m0:cd", "m=cd"]);
  });

  it("a reply dropped while a guard looks does not come out", async () => {
    const { gate, clock } = openGate(
      mode,
      () => new Promise((resolve) => void clock.after(10, () => resolve(undefined))),
    );
    const out = gate.pass([textDelta("m", 0, "abcdefgh"), message("m", text("abcdefgh")), noticeItem("n", 1)]);
    await clock.advance(5);
    gate.drop("m");
    await clock.advance(50);
    expect(show(await out).filter((line) => line !== "n" && line !== "m=abcdefgh")).toEqual([]);
  });

  it("retracted text is dropped with the notice that says so", async () => {
    const { gate } = openGate(mode, () => undefined);
    const out = await gate.pass([
      textDelta("m", 0, "a"),
      textDelta("m", 1, "b"),
      retractNotice({ messageId: "m", fromIndex: 1 }),
      message("m", text("a")),
    ]);
    expect(show(out)).toEqual(["m0:a", "retract", "m=a"]);
  });

  it("a terminal error lets go of what is not finished, and comes out", async () => {
    const { gate } = openGate(mode, () => undefined);
    const error = errorItem({ code: "stream-cut", message: "cut", terminal: true });
    expect(show(await gate.pass([textDelta("m", 0, "abc"), noticeItem("n", 1), error]))).toEqual(["n", "error"]);
    expect(gate.denial).toBeUndefined();
  });

  it("a result says no more than what came out", async () => {
    const play = async (given: string, structured?: unknown) => {
      const { gate } = openGate(mode, redact);
      const result = resultItem({
        subtype: "success",
        isError: false,
        usage: {},
        text: given,
        ...(structured !== undefined && { structured }),
        raw: { text: given } as never,
      });
      return (await gate.pass([textDelta("m", 0, "a secret"), message("m", text("a secret")), result])).at(-1);
    };
    expect(await play("a secret")).toMatchObject({ text: "a ***", subtype: "success" });
    expect(await play("another secret", { key: "secret" })).toMatchObject({
      text: "another ***",
      structured: { key: "***" },
    });
    expect(JSON.stringify(await play("another secret", { key: "secret" }))).not.toContain("secret");
    const { gate } = openGate(mode, hide);
    expect(await gate.pass([resultItem({ subtype: "success", isError: false, usage: {}, text: "secret" })])).toEqual(
      [],
    );
    expect(gate.denial).toBeDefined();
  });

  it("I6: after an abort no text comes, other things do", async () => {
    const { gate, controller, clock } = openGate(mode, () => new Promise(() => undefined));
    const pending = gate.pass([textDelta("m", 0, "abcdefgh"), message("m", text("abcdefgh")), noticeItem("n", 1)]);
    await clock.advance(1);
    controller.abort();
    expect(show(await pending)).toEqual(["n"]);
    const result = resultItem({ subtype: "x", isError: true, usage: {}, text: "abcdefgh" });
    const late = await gate.pass([textDelta("m", 0, "x"), message("m", text("x")), result, noticeItem("n", 1)]);
    expect(show(late)).toEqual(["result", "n"]);
    expect(late[0]).not.toHaveProperty("text");
  });

  it("calls that overlap are carried out one after the other", async () => {
    const { gate, clock } = openGate(
      mode,
      () => new Promise((resolve) => void clock.after(10, () => resolve(undefined))),
    );
    const outs = Promise.all(["a", "b", "c"].map((id) => gate.pass([textDelta(id, 0, "x"), message(id, text("x"))])));
    await clock.advance(100);
    expect((await outs).map(show)).toEqual(["a", "b", "c"].map((id) => [`${id}0:x`, `${id}=x`]));
  });

  it("frames as they came are shown until a guard has replaced something, and never after", async () => {
    const raw = { text: "a secret" } as never;
    const { gate } = openGate(mode, redact);
    expect(await gate.pass([noticeItem("n", 1, { raw })])).toMatchObject([{ raw }]);
    const out = await gate.pass([message("m", text("a secret")), noticeItem("n", 1, { raw })]);
    expect(JSON.stringify(out)).not.toContain("secret");
  });

  it("messages of users pass as they are", async () => {
    const { gate } = openGate(mode, hide);
    const item = messageItem({ id: "u", role: "user", blocks: [text("secret")] });
    expect(await gate.pass([item])).toEqual([item]);
  });
});

describe("without output guards", () => {
  it("everything passes", async () => {
    const { policy } = openTrial();
    const chunks = [textDelta("m", 0, "a")];
    expect(policy.isSilentOnOutput).toBe(true);
    expect(await policy.createOutputGate().pass(chunks)).toBe(chunks);
  });
});

/** What one agent says: messages of blocks, cut into deltas, with notices between. */
const LETTERS = ["a", "b", " ", "é", "🙂"];
const piece = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 6 });
const block = fc.record({
  type: fc.constantFrom("text", "thinking", "tool-call"),
  pieces: fc.array(piece, { minLength: 1, maxLength: 5 }),
});
const said = fc.record({
  blocks: fc.array(block, { minLength: 1, maxLength: 4 }),
  notices: fc.array(fc.nat(12), { maxLength: 3 }),
});
const scenario = fc.record({
  lanes: fc.array(fc.array(said, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  mix: fc.array(fc.nat(2), { minLength: 60, maxLength: 60 }),
  cuts: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 8 }),
  window: fc.option(fc.integer({ min: 1, max: 20 })),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

function speak(messages: Scenario["lanes"][number], parent: string | undefined): Chunk[] {
  return messages.flatMap(({ blocks, notices }, at) => {
    const id = `${parent ?? "main"}-${at}`;
    const deltas = blocks.flatMap(({ type, pieces }, index) =>
      pieces.map((part): Chunk => {
        if (type === "text") return textDelta(id, index, part, parent);
        if (type === "thinking") return thinkingDelta(id, index, part, parent);
        return {
          ...toolInputDelta(id, index, { callId: `${id}-${index}`, name: "t" }, part),
          ...(parent !== undefined && { parent }),
        };
      }),
    );
    for (const place of notices)
      deltas.splice(place % (deltas.length + 1), 0, noticeItem("n", place, parent === undefined ? {} : { parent }));
    const whole = blocks.map(({ type, pieces }, index): Block => {
      if (type === "tool-call") return { type, callId: `${id}-${index}`, name: "t", input: {} };
      return type === "text" ? { type: "text", text: pieces.join("") } : { type: "thinking", text: pieces.join("") };
    });
    const item = messageItem({ id, role: "assistant", blocks: whole, ...(parent !== undefined && { parent }) });
    return [...deltas, item, noticeItem("end", at, parent === undefined ? {} : { parent })];
  });
}

/** The lanes woven into one stream, and cut into batches. */
function weave(
  { lanes, mix, cuts }: Scenario,
  mark?: { readonly lane: number; readonly at: number },
): readonly Chunk[][] {
  const queues = lanes.map((messages, lane) => speak(messages, lane === 0 ? undefined : `p${lane}`));
  if (mark !== undefined) poison(queues[mark.lane % queues.length] ?? [], mark.at);
  const stream: Chunk[] = [];
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
    const queue = queues[(mix[turn % mix.length] ?? 0) % queues.length];
    const next = queue?.shift() ?? queues.find((other) => other.length > 0)?.shift();
    if (next !== undefined) stream.push(next);
  }
  const batches: Chunk[][] = [];
  for (let turn = 0; stream.length > 0; turn += 1) batches.push(stream.splice(0, cuts[turn % cuts.length]));
  return batches;
}

/** Puts a mark into one delta and into the block it belongs to. */
function poison(queue: Chunk[], at: number): void {
  const words = queue.filter((chunk) => chunk.type === "text-delta" || chunk.type === "thinking-delta");
  const delta = words[at % Math.max(1, words.length)] as { messageId: string; index: number; text: string } | undefined;
  if (delta === undefined) return;
  delta.text = `${delta.text}☠`;
  const same = words.filter((chunk) => chunk.messageId === delta.messageId && chunk.index === delta.index);
  const item = queue.find((chunk) => chunk.type === "message" && chunk.id === delta.messageId) as unknown as {
    blocks: { text: string }[];
  };
  const target = item.blocks[delta.index];
  if (target !== undefined) target.text = same.map((chunk) => chunk.text).join("");
}

const laneOf = (chunks: readonly Chunk[], parent: string | undefined): readonly Chunk[] =>
  chunks.filter((chunk) => chunk.parent === parent);
const parents = [undefined, "p1", "p2"];
const runs = { numRuns: fuzzRuns(300) };
const modeOf = ({ window }: Scenario): OutputMode => (window === null ? "buffer" : { windowCharacters: window });

async function playAll(
  batches: readonly Chunk[][],
  trial: Trial & { gate: ReturnType<Trial["policy"]["createOutputGate"]> },
) {
  const outs: (readonly Chunk[])[] = [];
  for (const batch of batches) outs.push(await trial.gate.pass(batch));
  return outs;
}

describe("R12: any stream through the gate", () => {
  it("that passes comes out whole, each lane in its own order, and a window holds back no more than it may", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const batches = weave(given);
        const outs = await playAll(
          batches,
          openGate(modeOf(given), () => undefined),
        );
        for (const parent of parents) expect(laneOf(outs.flat(), parent)).toEqual(laneOf(batches.flat(), parent));
        if (given.window === null) return;
        for (let seen = 1; seen <= batches.length; seen += 1) {
          for (const parent of parents) {
            const held = heldCharacters(
              laneOf(batches.slice(0, seen).flat(), parent),
              laneOf(outs.slice(0, seen).flat(), parent),
            );
            expect(held).toBeLessThanOrEqual(given.window);
          }
        }
      }),
      runs,
    );
  });

  it("with a denial somewhere: no character of the denied piece or after it", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.nat(2), fc.nat(40), async (given, lane, at) => {
        const batches = weave(given, { lane, at });
        const sent = batches.flat();
        const played = openGate(modeOf(given), ({ text: seen }) =>
          seen.includes("☠") ? { deny: "marked" } : undefined,
        );
        const out = (await playAll(batches, played)).flat();
        const isMarked = JSON.stringify(sent).includes("☠");
        expect(played.gate.denial !== undefined).toBe(isMarked);
        expect(JSON.stringify(out)).not.toContain("☠");
        for (const parent of parents) {
          const whole = laneOf(sent, parent);
          const part = laneOf(out, parent);
          expect(part).toEqual(whole.slice(0, part.length));
        }
        if (isMarked) expect(await played.gate.pass([noticeItem("late", 1)])).toEqual([]);
      }),
      runs,
    );
  });

  it("with replacements: deltas make the block, and nothing replaced is left anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const batches = weave(given);
        const out = (
          await playAll(
            batches,
            openGate(modeOf(given), ({ text: seen }) => ({ replace: seen.replaceAll("a", "") })),
          )
        ).flat();
        const items = out.filter((chunk) => chunk.type === "message");
        expect(items).toHaveLength(batches.flat().filter((chunk) => chunk.type === "message").length);
        for (const { id, blocks } of items) {
          for (const [index, one] of blocks.entries()) {
            if (one.type !== "text" && one.type !== "thinking") continue;
            const shown = out.filter(
              (chunk) => "messageId" in chunk && chunk.messageId === id && chunk.index === index,
            );
            expect(shown.map((chunk) => (chunk as { text: string }).text).join("")).toBe(one.text);
            expect(one.text).not.toContain("a");
          }
        }
      }),
      runs,
    );
  });
});

/** Characters of text that came in and have not come out. */
function heldCharacters(sent: readonly Chunk[], out: readonly Chunk[]): number {
  const count = (chunks: readonly Chunk[]): number =>
    chunks.reduce(
      (sum, chunk) => sum + (chunk.type === "text-delta" || chunk.type === "thinking-delta" ? chunk.text.length : 0),
      0,
    );
  return count(sent) - count(out);
}
