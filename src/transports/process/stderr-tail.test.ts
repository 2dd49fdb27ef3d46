import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { createStderrTail } from "./stderr-tail.ts";

const RUNS = fuzzRuns(300);

async function* pieces(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? new TextEncoder().encode(part) : part;
}

describe("the tail of stderr", () => {
  it("C24: keeps the last 262 144 bytes", async () => {
    const tail = createStderrTail();
    await tail.drain(pieces("a".repeat(300_000), "b".repeat(100_000), "c".repeat(200_000)));
    expect(tail.text()).toBe("b".repeat(62_144) + "c".repeat(200_000));
  });

  it("begins at a character boundary", async () => {
    const tail = createStderrTail({ maxBytes: 5 });
    await tail.drain(pieces("ééé"));
    expect(tail.text()).toBe("éé");
  });

  it("gives lines as they come, without their ends, including a last one without an end", async () => {
    const lines: string[] = [];
    const tail = createStderrTail({ onLine: (line) => lines.push(line) });
    await tail.drain(pieces("one\r\ntw", "o\n\nthr", "ee"));
    expect(lines).toEqual(["one", "two", "", "three"]);
  });

  it("cuts a line without an end, and bounds its memory", async () => {
    const lengths: number[] = [];
    const tail = createStderrTail({ onLine: (line) => lengths.push(line.length) });
    await tail.drain(pieces(...Array.from({ length: 20 }, () => "x".repeat(10_000)), "\nend\n"));
    expect(lengths).toEqual([65_536, 65_536, 65_536, 200_000 - 3 * 65_536, 3]);
  });

  it("continues draining if a listener throws, and ends if the pipe breaks", async () => {
    const tail = createStderrTail({
      onLine: () => {
        throw new Error("listener");
      },
    });
    const broken = (async function* () {
      yield new TextEncoder().encode("one\ntwo\n");
      throw new Error("EPIPE");
    })();
    await tail.drain(broken);
    expect(tail.text()).toBe("one\ntwo\n");
  });

  it("is the end of the text, however it is split", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 64 }),
        async (parts, maxBytes) => {
          const tail = createStderrTail({ maxBytes });
          await tail.drain(pieces(...parts));
          const all = Buffer.concat(parts);
          const last = all.subarray(Math.max(0, all.length - maxBytes));
          let start = 0;
          if (all.length > maxBytes) while (start < 3 && ((last[start] ?? 0) & 0xc0) === 0x80) start += 1;
          expect(tail.text()).toBe(new TextDecoder().decode(last.subarray(start)));
        },
      ),
      { numRuns: RUNS },
    );
  });
});
