import { type AgentEvent, type Block, type Message, unreachable } from "#domain";
import type { StoredThread } from "#sessions";
import { encodeEventInSlices, encodeInSlices, endOfPiece, measureJson } from "#wire";
import { ApiError } from "../api-error.ts";
import { encodeInTurns } from "../json-response.ts";
import { requireThread, type ServerContext, type ServerParts, showThread } from "../parts.ts";

/** A longer value is written on one line. */
const LARGE_VALUE = 1_048_576;

/** A thread as a file: JSONL with everything that was ever stored of it, or markdown for people. */
export async function exportThread(context: ServerContext, parts: ServerParts): Promise<Response> {
  const thread = await requireThread(context, parts);
  const format = context.req.query("format") ?? "jsonl";
  const messages = await parts.store.listMessages(thread.tenant, thread.id);
  switch (format) {
    case "markdown":
      return download(
        context,
        `${thread.id}.md`,
        "text/markdown; charset=utf-8",
        ReadableStream.from(encodeInTurns(writeMarkdown(thread, messages), parts.settings.world.nextTurn)),
      );
    case "jsonl": {
      const body = ReadableStream.from(writeLines(thread, messages, parts));
      return download(context, `${thread.id}.jsonl`, "application/x-ndjson; charset=utf-8", body);
    }
    default:
      throw new ApiError("invalid-request", "format must be jsonl or markdown.");
  }
}

function download(context: ServerContext, name: string, type: string, body: ReadableStream): Response {
  // The name contains only one of our ids. A browser saves the file, and never shows it as a page of this origin.
  return context.body(body, 200, { "content-type": type, "content-disposition": `attachment; filename="${name}"` });
}

/** The thread, its messages, and the events of every run, one per line; read page by page. */
async function* writeLines(
  thread: StoredThread,
  messages: readonly Message[],
  { store, settings }: ServerParts,
): AsyncGenerator<Uint8Array, undefined> {
  const { nextTurn } = settings.world;
  const head = [
    { kind: "thread", thread: showThread(thread) },
    ...messages.map((message) => ({ kind: "message", message })),
  ];
  yield* encodeInTurns(writeHead(head), nextTurn);
  for (const { id } of (await store.listRuns({ threadId: thread.id })).toReversed()) {
    for (let after = -1; ; ) {
      const events = await store.read(id, { after, limit: 512, maxCharacters: 262_144 });
      const last = events.at(-1);
      if (last === undefined) break;
      after = last.seq;
      yield* encodeInTurns(writeEvents(events), nextTurn);
    }
  }
  return undefined;
}

function* writeHead(lines: readonly unknown[]): Generator<string, undefined> {
  for (const line of lines) {
    yield* encodeInSlices(line);
    yield "\n";
  }
  return undefined;
}

function* writeEvents(events: readonly AgentEvent[]): Generator<string, undefined> {
  for (const event of events) {
    yield '{"kind":"event","event":';
    yield* encodeEventInSlices(event);
    yield "}\n";
  }
  return undefined;
}

/** Piece by piece, so that a long text is never encoded as a whole. */
function* writeMarkdown(thread: StoredThread, messages: readonly Message[]): Generator<string, undefined> {
  const head = `# ${thread.title.replaceAll(/\s+/g, " ") || "Conversation"}\n\nWith ${thread.target}, ${new Date(thread.createdAt).toISOString()}\n`;
  yield head;
  for (const message of messages) {
    const author = message.source === "millrace" ? "Millrace" : "User";
    const who = message.role === "user" ? (message.blocks.some(isResult) ? "Tool results" : author) : "Assistant";
    yield `\n## ${who}\n`;
    for (const block of message.blocks) {
      yield "\n";
      yield* writeBlock(block);
      yield "\n";
    }
  }
  return undefined;
}

const isResult = (block: Block): boolean => block.type === "tool-result";

function* writeBlock(block: Block): Generator<string, undefined> {
  switch (block.type) {
    case "text":
      return yield* cutText(block.text);
    case "thinking":
      yield "> ";
      for (const piece of cutText(block.text)) yield piece.replaceAll("\n", "\n> ");
      return undefined;
    case "tool-call":
      yield `Calls \`${block.name.replaceAll("`", "'")}\`:\n\n`;
      return yield* fence(block.input, "json");
    case "tool-result":
      return yield* fence(block.output, "");
    case "image":
    case "document":
    case "audio":
      yield `*(${block.type}${block.title === undefined ? "" : `: ${block.title}`})*`;
      return undefined;
    case "unknown":
      return yield* fence(block.raw, "json");
    default:
      return unreachable(block);
  }
}

/** A value between fences that are longer than any backticks in it, so that it cannot break out of them. */
function* fence(value: unknown, language: string): Generator<string, undefined> {
  let longest = 2;
  let row = 0;
  for (const piece of writeValue(value, language)) {
    for (const [ticks] of piece.matchAll(/`+|[^`]+/g)) {
      // A row of backticks may continue in the next piece.
      row = ticks.startsWith("`") ? row + ticks.length : 0;
      longest = Math.max(longest, row);
    }
    if (piece.length >= 32_768) yield "";
  }
  const ticks = "`".repeat(longest + 1);
  yield `${ticks}${language}\n`;
  yield* writeValue(value, language);
  yield `\n${ticks}`;
  return undefined;
}

/** Indented for people, unless it is too large to be read: then on one line. */
function* writeValue(value: unknown, language: string): Generator<string, undefined> {
  if (language === "" && typeof value === "string") return yield* cutText(value);
  if (measureJson(value, LARGE_VALUE) >= LARGE_VALUE) return yield* encodeInSlices(value);
  return yield* cutText(JSON.stringify(value, null, 2) ?? "null");
}

function* cutText(text: string): Generator<string, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, 65_536);
    yield text.slice(from, end);
    from = end;
  }
  return undefined;
}
