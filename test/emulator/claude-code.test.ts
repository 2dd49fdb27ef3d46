import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { locateRealCli, realCliHas } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const executable = locateRealCli();
const emulator = createEmulator();
let url = "";
const home = temporaryFolder("claude");

beforeAll(async () => {
  ({ url } = await emulator.listen());
});
afterAll(() => emulator.close());

interface Ended {
  readonly code: number | null;
  readonly lines: readonly Record<string, unknown>[];
  readonly stderr: string;
}

/** Runs the real CLI once, in an empty home, with nothing of this process's environment but the path. */
function claude(...args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable ?? "claude", ["-p", "--output-format", "stream-json", "--verbose", ...args], {
      cwd: home,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: home,
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "sk-ant-offline",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
      },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (bytes: Uint8Array) => (stdout += String(bytes)));
    child.stderr.on("data", (bytes: Uint8Array) => (stderr += String(bytes)));
    child.on("error", reject);
    child.on("close", (code) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      resolve({ code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>), stderr });
    });
  });
}

const resultOf = ({ lines }: Ended): Record<string, unknown> | undefined =>
  lines.find((line) => line.type === "result");

describe.runIf(executable !== undefined)("the real Claude Code CLI against the offline server", () => {
  it("answers a sum and ends well, without using its tools", async () => {
    const ended = await claude("What is 25 + 17?");
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
    expect(resultOf(ended)).toMatchObject({
      subtype: "success",
      is_error: false,
      result: "25 + 17 = 42.",
      num_turns: 1,
    });
  });

  it("streams partial messages and thinks where it is asked to", async () => {
    const ended = await claude("--include-partial-messages", "What is 6 * 7?");
    const types = ended.lines.flatMap((line) =>
      line.type === "stream_event" ? [(line.event as { type: string }).type] : [],
    );
    expect(new Set(types)).toEqual(
      new Set([
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
      ]),
    );
    expect(resultOf(ended)).toMatchObject({ result: "6 * 7 = 42." });
  });

  it("runs a command when the user asks for one, and the strict server takes what it sends back", async () => {
    const ended = await claude("--allowedTools", "Bash", "--", "Please run `echo a-word-from-the-shell`");
    expect(resultOf(ended)).toMatchObject({
      is_error: false,
      num_turns: 2,
      result: expect.stringContaining("a-word-from-the-shell"),
    });
  });

  it("reads a file when the user asks for one", async () => {
    writeFileSync(join(home, "notes.txt"), "the heron stands in the race");
    const ended = await claude("Read the file notes.txt");
    expect(resultOf(ended)).toMatchObject({
      is_error: false,
      result: expect.stringContaining("the heron stands in the race"),
    });
  });

  it.runIf(realCliHas("json-schema"))("fills a schema", async () => {
    const schema = {
      type: "object",
      properties: { answer: { type: "integer" } },
      required: ["answer"],
      additionalProperties: false,
    };
    const ended = await claude("--json-schema", JSON.stringify(schema), "--", "What is 25 + 17?");
    expect(resultOf(ended)).toMatchObject({ is_error: false, structured_output: { answer: 42 } });
  });

  it("says honestly what it is when it knows nothing", async () => {
    const ended = await claude("Write me a poem about rivers");
    expect(resultOf(ended)).toMatchObject({
      is_error: false,
      num_turns: 1,
      result: expect.stringContaining("offline model"),
    });
  });
});
