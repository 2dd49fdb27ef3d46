import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createFormatRegistry } from "#dialects";
import { decodeStream } from "#runtime";
import { assertRunLog } from "#testing";
import { encodeEvent } from "#wire";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, runCli } from "./cli.ts";

const folder = temporaryFolder("formats");

const write = (name: string, content: string | Uint8Array): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
const FIXTURE = join(ROOT, "test/fixtures/claude-code/2.1.325/plain-text.ndjson");

/** Events without what differs from run to run. */
const timeless = (events: readonly AgentEvent[]): unknown[] =>
  events.map((event) => {
    const { ts: _ts, runId: _runId, ...rest } = JSON.parse(encodeEvent(event));
    if (rest.type === "done") delete rest.result.ms;
    return rest;
  });

async function decodeHere(name: string, bytes: Uint8Array, keepRaw = false): Promise<AgentEvent[]> {
  const source = (async function* () {
    yield bytes;
  })();
  const events: AgentEvent[] = [];
  for await (const event of decodeStream(createFormatRegistry().require(name), source, { keepRaw })) events.push(event);
  return events;
}

describe("millrace formats", () => {
  it("list names every format once, with its framing and its other names", async () => {
    const { code, stdout } = await runCli(["formats", "list"]);
    expect(code).toBe(0);
    const names = stdout.split("\n").flatMap((line) => line.split(" ")[0] || []);
    expect(names).toEqual(["claude-code", "anthropic-messages", "openai-chat", "gemini", "ndjson", "text"]);
    expect(stdout).toContain("also claude-agent-sdk");
  });

  it.each([[[]], [["--raw"]]])("decode prints what the library decodes %j", async (flags) => {
    const { code, stdout, stderr } = await runCli(["formats", "decode", ...flags, "claude-code", FIXTURE]);
    expect([code, stderr]).toEqual([0, ""]);
    const events = readEvents(stdout);
    assertRunLog(events);
    const here = await decodeHere("claude-code", readFileSync(FIXTURE), flags.length > 0);
    expect(timeless(events)).toEqual(timeless(here));
  });

  it("decode reads stdin, named or not, and takes aliases", async () => {
    const input = readFileSync(FIXTURE);
    const [dash, nothing] = await Promise.all([
      runCli(["formats", "decode", "claude-agent-sdk", "-"], { input }),
      runCli(["formats", "decode", "anthropic"], { input }),
    ]);
    expect(timeless(readEvents(dash.stdout))).toEqual(timeless(readEvents(nothing.stdout)));
  });

  it("decode takes a declarative format from a file", async () => {
    const format = write(
      "mine.json",
      JSON.stringify({
        name: "mine",
        format: "ndjson",
        events: [{ match: { kind: "say" }, kind: "message", extract: { text: "words" } }],
      }),
    );
    const input = '{"kind":"say","words":"Hello "}\n{"kind":"say","words":"there"}\n';
    const { code, stdout, stderr } = await runCli(["formats", "decode", format], { input });
    expect(stderr).toBe("");
    const events = readEvents(stdout);
    assertRunLog(events);
    expect(code).toBe(0);
    expect(events.at(-1)).toMatchObject({ result: { text: "Hello there" } });
  });

  it.each<[string, string[], RegExp]>([
    ["an unknown format names the known ones", ["ndjsn"], /ndjson/],
    ["a file that is not there", ["ndjson", "nowhere.ndjson"], /There is no file .*nowhere\.ndjson/],
    ["a folder", ["ndjson", "src"], /src is a folder/],
    ["a format file that is not there", ["nowhere.json"], /The format file .*nowhere\.json cannot be read/],
    ["a format file that is none", ["biome.json"], /^millrace: biome\.json: config\./],
  ])("R16: %s", async (_, args, says) => {
    const { code, stdout, stderr } = await runCli(["formats", "decode", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each<[string, Uint8Array | string]>([
    ["an empty file", ""],
    ["a binary file", Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7919 + (index >> 8)) % 256)],
    ["half a transcript", readFileSync(FIXTURE).subarray(0, 3000)],
    ["another dialect", 'data: {"choices":[]}\n\n'],
  ])("%s is a failed run with a reason, not a crash", async (name, content) => {
    const file = write(name.replaceAll(" ", "-"), content);
    const { code, stdout, stderr } = await runCli(["formats", "decode", "claude-code", file]);
    expect([code, stderr]).toEqual([1, ""]);
    const events = readEvents(stdout);
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "error", error: expect.any(Object) } });
  });
});
