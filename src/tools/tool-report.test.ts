import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { runTool } from "./run-tool.ts";
import { type Tool, tool } from "./tool.ts";
import { readReportState } from "./tool-report.ts";

async function play(made: Tool) {
  const states: unknown[] = [];
  const outcome = await runTool(
    made,
    {},
    {
      callId: "c",
      runId: "r",
      agent: undefined,
      context: undefined,
      signal: new AbortController().signal,
      clock: createVirtualClock(),
      onProgress: (state) => states.push(state),
    },
  );
  return { states, outcome };
}

/** A context for authors who do not check their types. */
type Loose = Readonly<Record<"artifact" | "documents", (value: unknown) => void>>;

describe("S3-33: what a tool reports", () => {
  it("artifacts and documents are states of the tool, as JSON, in order", async () => {
    const made = tool("make", "Makes", {}, (_, { artifact, documents, progress }) => {
      artifact({ name: "a.svg", at: new Date(0) });
      progress({ done: 1 });
      documents([{ id: 1 }, "two"]);
      return "made";
    });
    const { states, outcome } = await play(made);
    expect(outcome).toEqual({ kind: "returned", output: "made" });
    expect(states).toEqual([
      { artifact: { name: "a.svg", at: "1970-01-01T00:00:00.000Z" } },
      { done: 1 },
      { documents: [{ id: 1 }, "two"] },
    ]);
  });

  it.each([
    ["no object", (context: Loose) => context.artifact("a.svg"), /context.artifact was given a string. Give an/],
    ["null", (context: Loose) => context.artifact(null), /given null/],
    ["a list", (context: Loose) => context.artifact([1]), /given a list/],
    ["no list", (context: Loose) => context.documents({}), /context.documents was given an object. Give a list/],
    [
      "too much",
      (context: Loose) => context.artifact({ text: "x".repeat(300_000) }),
      /more than 262144 characters of JSON. Store it, and report where it is/,
    ],
  ])("%s: the tool fails with a reason, and nothing is reported", async (_, report, reason) => {
    const { states, outcome } = await play(
      tool("make", "Makes", {}, (_input, context) => report(context as unknown as Loose)),
    );
    expect(outcome).toMatchObject({ kind: "failed", output: expect.stringMatching(reason) });
    expect(states).toEqual([]);
  });

  it("nothing is reported after the tool has answered", async () => {
    let late: (() => void) | undefined;
    const made = tool("make", "Makes", {}, (_, { artifact }) => {
      late = () => artifact({ name: "late" });
      return "made";
    });
    const { states } = await play(made);
    late?.();
    expect(states).toEqual([]);
  });

  it("only a state with that single field is a report", () => {
    expect(readReportState({ artifact: { id: 1 } })).toEqual({ kind: "artifact", artifact: { id: 1 } });
    expect(readReportState({ documents: [1] })).toEqual({ kind: "documents", documents: [1] });
    for (const state of [undefined, null, "artifact", [1], {}, { artifact: 1, step: 2 }, { documents: "x" }]) {
      expect(readReportState(state)).toBeUndefined();
    }
  });
});
