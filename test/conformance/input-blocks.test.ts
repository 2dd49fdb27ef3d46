import { describe, expect, it } from "vitest";
import type { Block } from "#domain";
import { isStartError } from "#domain";
import { startRun, startSession } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { inputs, openScripted, result, writes } from "../claude-code/scripted.ts";
import { createTestWorld, runToEnd } from "./model-backends.ts";

const PNG = "iVBORw0KGgo=";
const NOTE = btoa("Buy milk");

/** What a caller may put into a message. */
const BLOCKS = {
  picture: { type: "image", mediaType: "image/png", data: PNG },
  "picture at an address": { type: "image", url: "https://x.test/a.png" },
  "picture of a rare kind": { type: "image", mediaType: "image/tiff", data: PNG },
  "picture in capitals": { type: "image", mediaType: "IMAGE/JPEG", data: PNG },
  "JPEG at an address": { type: "image", url: "https://x.test/a.JPG?size=2" },
  "picture at an address that does not say what it is": { type: "image", url: "https://x.test/a" },
  PDF: { type: "document", mediaType: "application/pdf", data: NOTE, title: "bill" },
  "PDF at an address": { type: "document", mediaType: "application/pdf", url: "https://x.test/a.pdf" },
  "text document": { type: "document", mediaType: "text/markdown", data: NOTE, title: "list" },
  "JSON document": { type: "document", mediaType: "application/json; charset=utf-8", data: btoa('{"a":1}') },
  spreadsheet: { type: "document", mediaType: "application/vnd.ms-excel", data: NOTE },
  WAV: { type: "audio", mediaType: "audio/wav", data: NOTE },
  MP3: { type: "audio", mediaType: "audio/mpeg", data: NOTE },
  "recording of a rare kind": { type: "audio", mediaType: "audio/ogg", data: NOTE },
  "recording at an address": { type: "audio", mediaType: "audio/wav", url: "https://x.test/a.wav" },
} as const satisfies Record<string, Block>;

type Name = keyof typeof BLOCKS;
type Parts = Partial<Record<Name, unknown>>;

const ANTHROPIC: Parts = {
  picture: { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  "picture at an address": { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
  "picture in capitals": { type: "image", source: { type: "base64", media_type: "image/jpeg", data: PNG } },
  "JPEG at an address": { type: "image", source: { type: "url", url: "https://x.test/a.JPG?size=2" } },
  "picture at an address that does not say what it is": {
    type: "image",
    source: { type: "url", url: "https://x.test/a" },
  },
  PDF: { type: "document", source: { type: "base64", media_type: "application/pdf", data: NOTE }, title: "bill" },
  "PDF at an address": { type: "document", source: { type: "url", url: "https://x.test/a.pdf" } },
  "text document": {
    type: "document",
    source: { type: "text", media_type: "text/plain", data: "Buy milk" },
    title: "list",
  },
  "JSON document": { type: "document", source: { type: "text", media_type: "text/plain", data: '{"a":1}' } },
};

const CHAT: Parts = {
  picture: { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
  "picture at an address": { type: "image_url", image_url: { url: "https://x.test/a.png" } },
  "picture in capitals": { type: "image_url", image_url: { url: `data:image/jpeg;base64,${PNG}` } },
  "JPEG at an address": { type: "image_url", image_url: { url: "https://x.test/a.JPG?size=2" } },
  "picture at an address that does not say what it is": {
    type: "image_url",
    image_url: { url: "https://x.test/a" },
  },
  "picture of a rare kind": { type: "image_url", image_url: { url: `data:image/tiff;base64,${PNG}` } },
  PDF: { type: "file", file: { filename: "bill", file_data: `data:application/pdf;base64,${NOTE}` } },
  "text document": "list:\n\nBuy milk",
  "JSON document": '{"a":1}',
  WAV: { type: "input_audio", input_audio: { data: NOTE, format: "wav" } },
  MP3: { type: "input_audio", input_audio: { data: NOTE, format: "mp3" } },
};

const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
const GEMINI: Parts = {
  picture: inline("image/png", PNG),
  "picture at an address": { fileData: { mimeType: "image/png", fileUri: "https://x.test/a.png" } },
  "picture of a rare kind": inline("image/tiff", PNG),
  "picture in capitals": inline("image/jpeg", PNG),
  "JPEG at an address": { fileData: { mimeType: "image/jpeg", fileUri: "https://x.test/a.JPG?size=2" } },
  PDF: inline("application/pdf", NOTE),
  "PDF at an address": { fileData: { mimeType: "application/pdf", fileUri: "https://x.test/a.pdf" } },
  "text document": inline("text/markdown", NOTE),
  "JSON document": inline("application/json", btoa('{"a":1}')),
  spreadsheet: inline("application/vnd.ms-excel", NOTE),
  WAV: inline("audio/wav", NOTE),
  MP3: inline("audio/mpeg", NOTE),
  "recording of a rare kind": inline("audio/ogg", NOTE),
  "recording at an address": { fileData: { mimeType: "audio/wav", fileUri: "https://x.test/a.wav" } },
};

/** Which part each block becomes; what is not here is refused before the run starts. */
const MODELS: readonly (readonly [backend: string, parts: Parts])[] = [
  ["offline", ANTHROPIC],
  ["anthropic/test", ANTHROPIC],
  ["openai/test", CHAT],
  ["openrouter/test", CHAT],
  ["google/test", GEMINI],
];

const NAMES = Object.keys(BLOCKS) as Name[];
const ROWS = MODELS.flatMap(([backend, parts]) => NAMES.map((name) => ({ backend, name, part: parts[name] })));

const withBlock = (block: Block) => [
  { role: "user" as const, blocks: [{ type: "text" as const, text: "Look at this:" }, block] },
];

describe("F-C6: a block of the input is sent correctly, or rejected by name before the run starts", () => {
  it.each(ROWS)("$backend, $name", async ({ backend, name, part }) => {
    const place = createTestWorld({ rules: [{ reply: { text: "I see." } }] });
    const input = withBlock(BLOCKS[name]);
    if (part === undefined) {
      const refused = new RegExp(
        `input\\[0\\]\\.blocks\\[1\\] \\((image|document|audio)\\) cannot be sent to ${backend.split("/")[0]}`,
      );
      expect(() => startRun(backend, input, {}, place.world)).toThrow(refused);
      const session = startSession(backend, {}, place.world);
      expect(() => session.send(input)).toThrow(refused);
      await session.close();
      expect(place.emulator.requests).toHaveLength(0);
      return;
    }
    const log = await runToEnd(backend, input, {}, place);
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    if (backend === "offline") return;
    expect(JSON.stringify(place.emulator.requests[0]?.body)).toContain(JSON.stringify(part).slice(1, -1));
  });

  it.each(NAMES)("claude-code, %s", async (name) => {
    const place = openScripted([{ waitForInput: "line" }, writes(result("I see.")), { exit: 0 }]);
    const part = ANTHROPIC[name];
    const start = () =>
      startRun(place.backend({ mode: "plain" }), withBlock(BLOCKS[name]), {}, createTestWorld().world);
    if (part === undefined) {
      expect(start).toThrow(/input\[0\]\.blocks\[1\] .* cannot be sent to claude-code/);
      expect(place.spawn.calls).toHaveLength(0);
      return;
    }
    const run = start();
    const log = [];
    for await (const event of run) log.push(event);
    assertRunLog(log);
    const [said] = inputs(place.spawn.calls[0]?.stdin ?? "");
    expect(JSON.stringify(said)).toContain(JSON.stringify(part).slice(1, -1));
  });

  it.each(["offline", "anthropic/test", "openai/test", "google/test"])(
    "%s: a fallback that does not support a block is named before the run starts",
    (backend) => {
      const { world } = createTestWorld();
      const input = withBlock(BLOCKS.MP3);
      const other = backend === "openai/test" || backend === "google/test" ? "anthropic/test" : "openai/test";
      expect(() => startRun(backend, input, { fallback: other }, world)).toThrow(
        /cannot be sent to (anthropic|offline)/,
      );
    },
  );

  it.each([
    [{ type: "video", data: PNG }, /input\[0\]\.blocks\[1\]\.type is "video"\. Use one of text, /],
    [{ type: "image" }, /input\[0\]\.blocks\[1\] needs its bytes as base64 in data, or its address in url/],
    [{ type: "image", data: `data:image/png;base64,${PNG}` }, /needs its bytes as base64/],
    [
      { type: "document", mediaType: "text/plain", data: "hello world" },
      /blocks\[1\]\.data is not a UTF-8 text in base64/,
    ],
    [{ type: "document", mediaType: "application/json", data: "/w==" }, /is not a UTF-8 text in base64/],
    [{ type: "text" }, /input\[0\]\.blocks\[1\]\.text is undefined/],
    ["hello", /input\[0\]\.blocks\[1\] is "hello", not a block/],
    [null, /input\[0\]\.blocks\[1\] is null, not a block/],
    [{ type: "unknown", raw: { type: "x" } }, /block of an unknown kind/],
    [{ type: "image", data: PNG }, /blocks\[1\]\.mediaType is missing\. Say what the bytes are/],
    [
      { type: "image", mediatype: "image/jpeg", data: PNG },
      /blocks\[1\]\.mediatype is not .* Did you mean mediaType\?/,
    ],
    [{ type: "image", mediaType: "text/plain", data: NOTE }, /is "text\/plain", which is no image\. .*"document"/],
    [{ type: "audio", mediaType: "image/png", data: PNG }, /is "image\/png", which is no audio\. .*"image"/],
    [
      { type: "text", text: "x", cache_control: { type: "ephemeral" } },
      /blocks\[1\]\.cache_control is not a field of a block of type "text"\. It has text\./,
    ],
  ])("an invalid block is rejected by name: %j", (block, message) => {
    for (const backend of ["offline", "openai/test", "google/test"]) {
      try {
        startRun(backend, withBlock(block as Block), {}, createTestWorld().world);
        expect.unreachable();
      } catch (error) {
        expect(isStartError(error)).toBe(true);
        expect((error as Error).message).toMatch(message);
      }
    }
  });

  it.each(["anthropic/test", "openai/test", "google/test"])(
    "%s: a tool result that cannot be sent is reported to the model as an error",
    async (backend) => {
      const record = tool("record", "Records", {}, () => [{ type: "audio", mediaType: "audio/ogg", data: NOTE }]);
      const place = createTestWorld({
        rules: [
          { match: { times: 1 }, reply: { toolCalls: [{ name: "record", input: {} }] } },
          { reply: { text: "I heard." } },
        ],
      });
      const log = await runToEnd(backend, "Record me", { tools: [record] }, place);
      expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
      const body = JSON.stringify(place.emulator.requests[1]?.body);
      expect(body).toContain(backend === "google/test" ? '"inlineData"' : "audio/ogg audio left out");
    },
  );

  it.each(["anthropic/test", "openai/test"])(
    "%s: a picture that another vendor's model has drawn is described in words",
    async (backend) => {
      const place = createTestWorld({ rules: [{ reply: { text: "Yes." } }] });
      const drawn = [{ type: "text" as const, text: "Here:" }, BLOCKS.picture];
      const input = [
        { role: "user" as const, text: "Draw a cat" },
        { role: "assistant" as const, blocks: drawn },
        { role: "user" as const, text: "Is it a cat?" },
      ];
      const log = await runToEnd(backend, input, {}, place);
      expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
      expect(JSON.stringify(place.emulator.requests[0]?.body)).toMatch(/Here:.*\[image\/png image left out: /);
    },
  );
});
