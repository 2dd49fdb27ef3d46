import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDecoder } from "#dialects";
import { createItems } from "#views";
import { isRecord, type JsonRecord } from "#wire";
import { ROOT } from "../../scripts/set-up.mjs";
import { openQuery, type QueryItem } from "../../src/backends/claude-code/query.ts";
import { claudeCode } from "../../src/dialects/claude-code/decode.ts";
import { type ClaudeCodeMessageKind, isMessageOf } from "../../src/runtime/claude-code.ts";
import { isQuick } from "../effort.ts";
import { readTranscripts, valuesOf } from "../formats/claude-code-transcripts.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { line, openScripted, result } from "./scripted.ts";
import { SDK_MESSAGE_KINDS, SEEN_MESSAGE_KINDS } from "./sdk-message-kinds.ts";
import { asEvent } from "../events.ts";

const KINDS: readonly ClaudeCodeMessageKind[] = [...SDK_MESSAGE_KINDS, ...SEEN_MESSAGE_KINDS];

// Both ways: a kind of ours that is in neither list does not compile.
({}) as Record<ClaudeCodeMessageKind, 1> satisfies Record<
  (typeof SDK_MESSAGE_KINDS)[number] | (typeof SEEN_MESSAGE_KINDS)[number],
  1
>;

/** The smallest message of a kind. */
function messageOf(kind: string): JsonRecord {
  const [type, subtype] = kind.split("/");
  const message = { role: type, content: [] };
  switch (type) {
    case "system":
      return { type, subtype, tool_use_id: "call-1", tool_name: "Bash" };
    case "assistant":
      return { type, message: { ...message, id: "m1" } };
    case "user":
      return { type, message: { role: "user", content: "hello" } };
    case "stream_event":
      return { type, event: { type: "message_start", message: { id: "m1" } } };
    case "result":
      return result();
    default:
      return { type };
  }
}

/** What a query makes of these lines, before the result and behind them. */
async function ask(messages: readonly unknown[]): Promise<QueryItem[]> {
  const { world } = openScripted([{ write: messages.map(line).join("") + line(result()) }, { exit: 0 }]);
  const query = await openQuery("hello", { skipVersionCheck: true }, world);
  const items: QueryItem[] = [];
  for (const _ of messages) items.push(await query.next());
  await query.close();
  return items;
}

describe("S1-119: every kind of message that the CLI's own types name", () => {
  it.each(KINDS)("%s comes through a query and is recognised by its kind", async (kind) => {
    const message = messageOf(kind);
    const [item] = await ask([message]);
    expect(item).toMatchObject({ kind: "message", message });
    if (item?.kind !== "message") return;
    expect(KINDS.filter((other) => isMessageOf(item.message, other))).toEqual([kind]);
  });

  it.each(KINDS)("%s is not unknown in a run", (kind) => {
    const decoder = createDecoder(claudeCode);
    const call = { type: "tool_use", id: "call-1", name: "Bash", input: {} };
    const calling = { type: "assistant", message: { id: "m0", role: "assistant", content: [call] } };
    const chunks = [calling, messageOf(kind)].flatMap((value) => decoder.push(new TextEncoder().encode(line(value))));
    expect(chunks.filter((chunk) => chunk.type === "notice" && chunk.kind.startsWith("unknown:"))).toEqual([]);
  });
});

describe("S1-128: what is not listed", () => {
  it.each([
    { type: "system", subtype: "brand_new", colour: "red" },
    { type: "system", colour: "red" },
  ])("%j is an ordinary message", async (message) => {
    expect(await ask([message])).toMatchObject([{ kind: "message", message }]);
  });

  it("an unknown type is passed on with its line and its fields, as a non-terminal error", async () => {
    const message = { type: "brand_new", colour: "red" };
    expect(await ask([message])).toMatchObject([
      {
        kind: "error",
        error: { code: "unexpected-message", terminal: false },
        message,
        raw: { json: JSON.stringify(message) },
      },
    ]);
  });

  it.each([
    [{ type: "result", is_error: false }, "subtype"],
    [{ type: "assistant" }, "message.content"],
    [{ type: "assistant", message: { content: "text" } }, "message.content"],
    [{ type: "user", message: {} }, "message.content"],
    [{ type: "stream_event", event: {} }, "event.type"],
  ])("%j lacks a required field: an error that names it", async (message, field) => {
    const [item] = await ask([message]);
    expect(item).toMatchObject({
      kind: "error",
      error: { code: "json-decode", message: `The CLI sent a message of type ${message.type} without ${field}.` },
      raw: { json: JSON.stringify(message) },
    });
  });
});

// A type check of its own: only in the full set.
if (!isQuick) {
  describe("S1-121 S1-122 S1-124 S1-125: the types match what the CLI has written", () => {
    const folder = temporaryFolder("messages");

    it("every captured message compiles as a ClaudeCodeMessage", () => {
      const shapes = new Map<string, unknown>();
      for (const transcript of readTranscripts()) {
        for (const value of valuesOf(transcript)) {
          if (isRecord(value) && !UNLISTED_BLOCKS.test(JSON.stringify(value))) shapes.set(shapeOf(value), value);
        }
      }
      expect(shapes.size).toBeGreaterThan(200);
      const messages = [...shapes.values()].map((value) => `give(${JSON.stringify(value)});`);
      const source = [
        `import type { ClaudeCodeMessage } from ${JSON.stringify(join(ROOT, "src/backends/claude-code/messages/message.ts"))};`,
        "declare function give(message: ClaudeCodeMessage): void;",
        ...messages,
        "// What is not listed does not compile, so the lines above say something.",
        "// @ts-expect-error",
        'give({ type: "brand_new" });',
        "// @ts-expect-error",
        'give({ type: "system", subtype: "init", cwd: 1 });',
      ];
      writeFileSync(join(folder, "messages.ts"), source.join("\n"));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configuration()));
      const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
      const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { cwd: folder, encoding: "utf8" });
      expect(stdout.split("\n").filter((complaint) => complaint.startsWith("messages.ts"))).toEqual([]);
      expect(stdout).not.toMatch(/error TS18003/);
    }, 120_000);
  });
}

describe("S1-121 S1-125: toItems keeps every field of the first and the last message", () => {
  it.each(readTranscripts())("$name", async (transcript) => {
    const lost = new Set<string>();
    const values = valuesOf(transcript).filter(isRecord);
    const decoder = createDecoder(claudeCode, { keepRaw: true });
    const view = createItems();
    const chunks = [...decoder.push(transcript.bytes), ...decoder.end()];
    const messages = chunks
      .flatMap((chunk) => view.next(asEvent(chunk)))
      .flatMap((item) => (item.type === "Message" ? [item.message] : []));
    for (const value of values) {
      const isTold = value.type === "result" || (value.type === "system" && value.subtype === "init");
      if (!isTold) continue;
      const told = messages.find(({ uuid }) => uuid === value.uuid);
      const fields = { ...told, ...(isRecord(told?.data) && told.data) };
      for (const name of Object.keys(value))
        if (!Object.hasOwn(fields, RENAMED[name] ?? name) && !Object.hasOwn(fields, name))
          lost.add(`${String(value.type)}.${name}`);
    }
    expect([...lost]).toEqual([]);
  });
});

const RENAMED: Readonly<Record<string, string>> = {
  permissionMode: "permission_mode",
  apiKeySource: "api_key_source",
  modelUsage: "model_usage",
};

/** Blocks that are not listed have no literal that would compile. */
const UNLISTED_BLOCKS = /"type":"(?:mystery_block|tool_reference)"/;

function configuration(): object {
  return {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      incremental: false,
      pretty: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      types: [],
    },
    include: ["*.ts"],
  };
}

/** Values of one shape need to be compiled once. Words that types tell apart are part of it. */
function shapeOf(value: unknown, key = ""): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map((entry) => shapeOf(entry)))].sort().join()}]`;
  if (isRecord(value)) {
    const fields = Object.keys(value).sort();
    return `{${fields.map((field) => `${field}:${shapeOf(value[field], field)}`).join()}}`;
  }
  if (key === "type" || key === "subtype") return JSON.stringify(value);
  return value === null ? "null" : typeof value;
}
