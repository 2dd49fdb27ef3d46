import { describe, expect, it } from "vitest";
import { type AgentEvent, numberEvent, textDelta, toolResultItem } from "#domain";
import { decodeEvent } from "#wire";
import { createNdjsonSink } from "./ndjson.ts";

describe("the NDJSON sink", () => {
  it("I10: writes one line per event, which reads back unchanged", () => {
    const events: AgentEvent[] = [
      textDelta("m", 0, "two\nlines\u2028and \u001b[31m \u009b2J \u202emore \u007f"),
      toolResultItem({ callId: "c", name: "add", output: { "__proto__ ": "a\r\nb" }, isError: false }),
    ].map((chunk, seq) => numberEvent(chunk, seq, { ts: 1, runId: "r" }));
    const lines: string[] = [];
    const sink = createNdjsonSink((text) => lines.push(text));
    for (const event of events) sink.accept(event);
    expect(lines).toHaveLength(2);
    for (const [index, line] of lines.entries()) {
      expect(line).toMatch(/^[ -~]+\n$/);
      expect(decodeEvent(line.trimEnd())).toMatchObject({ event: events[index] });
    }
  });
});
