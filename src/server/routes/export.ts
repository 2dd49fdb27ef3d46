import { type AgentEvent, type Block, type Message, unreachable } from "#domain";
import type { StoredThread } from "#sessions";
import { encodeEventInSlices, encodeInSlices, endOfPiece } from "#wire";
import { ApiError } from "../api-error.ts";
import { encodeInTurns } from "../json-response.ts";
import { requireThread, type ServerContext, type ServerParts, showThread } from "../parts.ts";

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
  // The name is made of an id of ours. A browser saves it, and never shows it as a page of this origin.
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

/** Piece by piece: a long text is cut, so that none is encoded as a whole. */
function* writeMarkdown(thread: StoredThread, messages: readonly Message[]): Generator<string, undefined> {
  const head = `# ${thread.title.replaceAll(/\s+/g, " ") || "Conversation"}\n\nWith ${thread.target}, ${new Date(thread.createdAt).toISOString()}\n`;
  yield head;
  for (const message of messages) {
    const text = `\n${writeMessage(message)}`;
    for (let from = 0; from < text.length; ) {
      const end = endOfPiece(text, from, 65_536);
      yield text.slice(from, end);
      from = end;
    }
  }
  return undefined;
}

function writeMessage(message: Message): string {
  const said = message.source === "millrace" ? "Millrace" : "User";
  const who = message.role === "user" ? (message.blocks.some(isResult) ? "Tool results" : said) : "Assistant";
  return `## ${who}\n\n${message.blocks.map(writeBlock).join("\n\n")}\n`;
}

const isResult = (block: Block): boolean => block.type === "tool-result";

function writeBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.text
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
    case "tool-call":
      return `Calls \`${block.name.replaceAll("`", "'")}\`:\n\n${fence(JSON.stringify(block.input, null, 2), "json")}`;
    case "tool-result":
      return fence(typeof block.output === "string" ? block.output : JSON.stringify(block.output, null, 2), "");
    case "image":
    case "document":
    case "audio":
      return `*(${block.type}${block.title === undefined ? "" : `: ${block.title}`})*`;
    case "unknown":
      return fence(JSON.stringify(block.raw, null, 2), "json");
    default:
      return unreachable(block);
  }
}

/** A fence longer than any in the text, so that nothing gets out of it. */
function fence(text: string | undefined, language: string): string {
  const body = text ?? "null";
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${body}\n${ticks}`;
}
