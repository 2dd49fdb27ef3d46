import { describe, expect, it } from "vitest";
import { messageItem } from "#domain";
import { closeRunLog } from "#testing";
import { encodeEvent } from "#wire";
import { encodeSlowly, isLarge } from "./slow-encoding.ts";

const text = 'A long "answer"\n'.repeat(200_000);
const message = { id: "m", role: "assistant", blocks: [{ type: "text", text }] } as const;
const events = closeRunLog([messageItem(message)], "r");
const settlement = { at: 1, messages: [message], usage: [] };

describe("F-B1: events of many megabytes", () => {
  it("are encoded with turns for others in between, to the same text", async () => {
    let turns = 0;
    const clock = {
      after(_: number, fire: () => void) {
        turns += 1;
        queueMicrotask(fire);
        return () => undefined;
      },
    };
    const encoded = await encodeSlowly({ runId: "r", events, settlement }, clock);
    expect(encoded.bodies).toEqual(events.map(encodeEvent));
    expect(encoded.messages).toEqual([JSON.stringify(message)]);
    const characters = [...encoded.bodies, ...(encoded.messages ?? [])].join("").length;
    expect(turns).toBeGreaterThanOrEqual(Math.floor(characters / 1_048_576));
  });

  it("are told from small ones without encoding them", () => {
    expect(isLarge(events, undefined)).toBe(true);
    expect(isLarge([], settlement)).toBe(true);
    expect(isLarge(closeRunLog([], "r"), undefined)).toBe(false);
  });
});
