import { describe, expect, it } from "vitest";
import { type Chunk, handoffItem, isDelta, messageItem, retractNotice, textDelta, toolInputDelta } from "#domain";
import { createSecretMask, type SecretMask } from "#secrets";
import { ChunkMask } from "./chunk-mask.ts";

const SECRET = "sk-canary-0123456789abcdef";
const TEXTS = [`the key is ${SECRET}, and sk- is how it begins`, "nothing to see here, sk-can", `${SECRET}${SECRET}`];
const secrets = createSecretMask([SECRET]) as SecretMask;

const cut = (text: string, size: number): readonly string[] => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

/** Returns what is shown of two interleaved texts when chunks arrive in batches of this size. */
function show(texts: readonly [string, string], pieceSize: number, batchSize: number): readonly string[] {
  const mask = new ChunkMask(secrets);
  const [first, second] = texts.map((text) => cut(text, pieceSize)) as [readonly string[], readonly string[]];
  const deltas: Chunk[] = [];
  for (let at = 0; at < Math.max(first.length, second.length); at += 3) {
    deltas.push(...first.slice(at, at + 3).map((piece) => textDelta("m", 0, piece)));
    deltas.push(...second.slice(at, at + 3).map((piece) => toolInputDelta("m", 1, { callId: "c", name: "n" }, piece)));
  }
  const shown: Chunk[] = [];
  for (let at = 0; at < deltas.length; at += batchSize) shown.push(...mask.pass(deltas.slice(at, at + batchSize)));
  shown.push(...mask.pass([messageItem({ id: "m", role: "assistant", blocks: [] })]));
  return [0, 1].map((index) =>
    shown
      .filter((chunk) => isDelta(chunk) && chunk.index === index)
      .map((chunk) => (chunk.type === "tool-input-delta" ? chunk.json : chunk.type === "text-delta" ? chunk.text : ""))
      .join(""),
  );
}

describe("F-A3: secrets in deltas", () => {
  for (const batchSize of [1, 2, 3, 5, 100]) {
    it(`are masked in the same way however the text is split, in batches of ${batchSize}`, () => {
      for (const pieceSize of [1, 2, 3, 4, 7, 26, 100]) {
        for (const [at, text] of TEXTS.entries()) {
          const other = TEXTS[(at + 1) % TEXTS.length] as string;
          expect(show([text, other], pieceSize, batchSize)).toEqual([secrets.text(text), secrets.text(other)]);
        }
      }
    });
  }

  it("are masked when they begin in one block of text and end in the next", () => {
    for (let at = 4; at < SECRET.length; at += 1) {
      const mask = new ChunkMask(secrets);
      const [first, second] = [textDelta("m", 0, SECRET.slice(0, at)), textDelta("m", 1, `${SECRET.slice(at)} is it`)];
      const shown = [...mask.pass([first]), ...mask.pass([second]), ...mask.end()];
      const text = shown.map((chunk) => (chunk.type === "text-delta" ? chunk.text : "")).join("");
      expect(text).toMatch(/^[^*]{1,4}\*+ is it$/);
      expect(text).toHaveLength(SECRET.length + " is it".length);
    }
  });

  it("are not shown after the block that held them back was retracted", () => {
    for (const fromIndex of [0, 1]) {
      const mask = new ChunkMask(secrets);
      mask.pass([textDelta("m", 1, "sk-canary-")]);
      const retraction = retractNotice({ messageId: "m", fromIndex });
      expect([...mask.pass([retraction]), ...mask.end()]).toEqual([retraction]);
    }
  });

  it("are shown, masked, before a handoff: no text is added after it", () => {
    const mask = new ChunkMask(secrets);
    const handoff = handoffItem({ from: "one", to: "two", message: "go" });
    const shown = [...mask.pass([textDelta("m", 0, "I ask sk-canary-")]), ...mask.pass([handoff])];
    expect(shown.at(-1)).toBe(handoff);
    const text = shown.map((chunk) => (chunk.type === "text-delta" ? chunk.text : "")).join("");
    expect(text).toMatch(/^I ask [^*]{1,4}\*+$/);
    expect(text).toHaveLength("I ask sk-canary-".length);
  });

  it("leave a batch without secrets unchanged", () => {
    const batch = ["all ", "is ", "well"].map((piece) => textDelta("m", 0, piece));
    expect(new ChunkMask(secrets).pass(batch)).toBe(batch);
  });
});
