import type { FetchReply } from "#testing";
import { eventsOf, scriptedWorld } from "../tapes/tape-world.ts";
import { startRun, type RunOptions, type World } from "#runtime";

/** The key every host is asked with; twelve characters of it in a row are a leak. */
export const KEY = "cnry-4f9K2/mQ7+zX1=Wd8Rt5";

/** What a host may do with a key it was given, in the words of its own protocol. */
export interface Host {
  readonly target: string;
  readonly options: RunOptions;
  /** A reply whose text arrives in these pieces. */
  says(pieces: readonly string[]): FetchReply;
  /** A reply with one block of text for each of these, where the protocol has several. */
  saysInBlocks(texts: readonly string[]): FetchReply;
  /** A call of the tool `keep` whose arguments arrive in these pieces. */
  calls(json: readonly string[]): FetchReply;
}

const sse = (...frames: readonly (object | string)[]): FetchReply => ({
  headers: { "content-type": "text/event-stream" },
  body: frames.map((frame) => {
    if (typeof frame === "string") return `data: ${frame}\n\n`;
    const { type } = frame as { readonly type?: string };
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(frame)}\n\n`;
  }),
});

const ANTHROPIC_START = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};

const anthropicEnd = (reason: string) => [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

const choice = (delta: object, finish: string | null = null) => ({
  id: "chatcmpl-1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const candidate = (parts: readonly object[], finish?: string) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(finish !== undefined && { finishReason: finish }) }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
});

export const HOSTS: Readonly<Record<"anthropic" | "openai" | "google", Host>> = {
  anthropic: {
    target: "anthropic/m",
    options: { anthropic: { apiKey: KEY, baseUrl: "http://host.test" } },
    says: (pieces) =>
      sse(
        ANTHROPIC_START,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ...pieces.map((text) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text },
        })),
        ...anthropicEnd("end_turn"),
      ),
    saysInBlocks: (texts) =>
      sse(
        ANTHROPIC_START,
        ...texts.flatMap((text, index) => [
          { type: "content_block_start", index, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index, delta: { type: "text_delta", text } },
          { type: "content_block_stop", index },
        ]),
        ...anthropicEnd("end_turn").slice(1),
      ),
    calls: (json) =>
      sse(
        ANTHROPIC_START,
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "toolu_1", name: "keep", input: {} },
        },
        ...json.map((partial_json) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "input_json_delta", partial_json },
        })),
        ...anthropicEnd("tool_use"),
      ),
  },
  openai: {
    target: "openai/m",
    options: { openai: { apiKey: KEY, baseUrl: "http://host.test/v1" } },
    says: (pieces) => sse(...pieces.map((content) => choice({ content })), choice({}, "stop"), "[DONE]"),
    saysInBlocks: (texts) => sse(...texts.map((content) => choice({ content })), choice({}, "stop"), "[DONE]"),
    calls: (json) =>
      sse(
        choice({
          tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "keep", arguments: "" } }],
        }),
        ...json.map((part) => choice({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
        choice({}, "tool_calls"),
        "[DONE]",
      ),
  },
  google: {
    target: "google/m",
    options: { google: { apiKey: KEY, baseUrl: "http://host.test" } },
    says: (pieces) => sse(...pieces.map((text) => candidate([{ text }])), candidate([{ text: "" }], "STOP")),
    saysInBlocks: (texts) => sse(candidate(texts.map((text) => ({ text }))), candidate([{ text: "" }], "STOP")),
    calls: (json) =>
      sse(candidate([{ functionCall: { name: "keep", args: JSON.parse(json.join("")) as object } }], "STOP")),
  },
};

/** A text in pieces of one character. */
export const letters = (text: string): readonly string[] => text.split("");

/** The ways a key may be written down. Made with Node's encoders, not with ours. */
export const WRITINGS: Readonly<Record<string, string>> = {
  plain: KEY,
  json: JSON.stringify(KEY).slice(1, -1),
  address: encodeURIComponent(KEY),
  "lower-case address": encodeURIComponent(KEY).replaceAll(/%../g, (part) => part.toLowerCase()),
  base64: Buffer.from(KEY).toString("base64"),
  "base64 one off": Buffer.from(`x${KEY}y`).toString("base64"),
  "base64 two off": Buffer.from(`xy${KEY}`).toString("base64"),
  base64url: Buffer.from(KEY).toString("base64url"),
  hex: Buffer.from(KEY).toString("hex"),
  "base64 in lines": broken("base64", 8, "\n"),
  "base64 in lines of Windows": broken("base64", 10, "\r\n"),
  "base64 in indented lines": broken("base64", 7, "\n      "),
  "base64 in lines in JSON": broken("base64", 8, "\\n"),
  "base64 in lines in JSON in JSON": broken("base64", 8, "\\\\r\\\\n"),
  "base64 in lines in an address": encodeURIComponent(broken("base64", 8, "\r\n  ")),
  "base64 one off, in lines": Buffer.from(`x${KEY}y`).toString("base64").replaceAll(/.{5}/g, "$&\n"),
  "base64 in JSON with escaped slashes": Buffer.from(`xy${KEY}`).toString("base64").replaceAll("/", "\\/"),
  "hex in lines": broken("hex", 16, "\n"),
  "hex in lines in an address": broken("hex", 16, "%0A"),
  "hex with colons": broken("hex", 2, ":"),
  "hex with blanks, in lines": broken("hex", 2, " ").replaceAll(/.{24}/g, "$&\n"),
  "hex with hyphens": broken("hex", 2, "-").toUpperCase(),
  "hex of C": broken("hex", 2, ", ").replaceAll(/\w\w/g, "0x$&"),
  "hex of a shell": broken("hex", 2, "").replaceAll(/\w\w/g, "\\x$&"),
  "percents throughout": broken("hex", 2, "").replaceAll(/\w\w/g, "%$&"),
};

function broken(encoding: "base64" | "hex", width: number, by: string): string {
  return (
    Buffer.from(KEY)
      .toString(encoding)
      .match(new RegExp(`.{1,${width}}`, "g")) ?? []
  ).join(by);
}

/** Twelve characters in a row of any writing of a key are a leak. The ends of base64 belong to its neighbours. */
export function leaks(shown: unknown, secret = KEY): readonly string[] {
  const given = typeof shown === "string" ? shown : JSON.stringify(shown);
  const whole = given.replaceAll(/\\+[nrtx]|%0[AD]|%20|[\s:,%\\]/gi, "");
  const hex = whole.replaceAll(/0x|-/g, "").toLowerCase();
  const text = [given, whole, hex].join("\0");
  const writings = [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll(/%../g, (part) => part.toLowerCase()),
    ...[0, 1, 2].flatMap((skip) => {
      const base64 = Buffer.from(`${"\0".repeat(skip)}${secret}`)
        .toString("base64")
        .slice(4, -4);
      return [base64, base64.replaceAll("+", "-").replaceAll("/", "_")];
    }),
    Buffer.from(secret).toString("hex"),
  ];
  const found = new Set<string>();
  for (const writing of writings) {
    for (let at = 0; at + 12 <= writing.length; at += 1) {
      if (text.includes(writing.slice(at, at + 12))) found.add(writing.slice(at, at + 12));
    }
  }
  return [...found];
}

/** Everything deltas of one text join to, for every text of a run: where a secret in pieces would stand. */
export function joined(events: readonly { readonly type: string }[]): readonly string[] {
  const texts = new Map<string, string>();
  for (const event of events as readonly Record<string, unknown>[]) {
    const piece = event["text"] ?? event["json"];
    if (typeof event["messageId"] !== "string" || typeof piece !== "string") continue;
    const key = `${event["messageId"]} ${String(event["index"])} ${String(event["type"])}`;
    texts.set(key, (texts.get(key) ?? "") + piece);
  }
  return [...texts.values()];
}

/** Runs a host's script, in a world without a machine. */
export async function runHost(host: Host, replies: readonly FetchReply[], more: RunOptions = {}, world?: World) {
  const made = world ?? scriptedWorld(replies, { env: {} });
  return eventsOf(startRun(host.target, "Hello", { retry: false, ...host.options, ...more }, made));
}
