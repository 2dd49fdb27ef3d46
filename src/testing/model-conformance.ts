import type { ModelBackend, ModelRequest } from "#backends";
import type { Chunk } from "#domain";
import { expectSame, expectThat, type Failure, runTrials, type Trial } from "./conformance.ts";
import { expectSound } from "./sound-chunks.ts";

/** How the host of a model backend responds. */
export type ModelSituation =
  /** Answers with some text. */
  | "answer"
  /** Answers with one or more calls of the offered tool, `echo`. */
  | "tool-call"
  /** Refuses, or cannot be reached. */
  | "failure"
  /** Breaks off in the middle of a text. */
  | "cut"
  /** Begins a text, and then sends nothing more. */
  | "stall";

const REQUEST: ModelRequest = {
  messages: [{ id: "message-1", role: "user", blocks: [{ type: "text", text: "Hello" }] }],
  tools: [
    {
      name: "echo",
      description: "Gives back the text it is given",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
};

/**
 * Tests a model backend against the contract of `ModelBackend` and returns the failures. Works with any test runner.
 *
 * `createBackend` returns a backend whose host behaves according to the situation.
 *
 * @example
 * const answers = createScriptedBackend([{ text: "Hello" }])
 * const failures = await checkModelBackend((situation) => answers)
 * for (const { behaviour, message } of failures) console.log(`${behaviour}: ${message}`)
 */
export function checkModelBackend(
  createBackend: (situation: ModelSituation) => ModelBackend,
): Promise<readonly Failure[]> {
  const ask = (situation: ModelSituation): Promise<Chunk[]> => collect(createBackend(situation));
  const trials: readonly Trial<undefined>[] = [
    [
      "an answer is deltas and a message with the same text, without an error",
      async () => {
        const chunks = await ask("answer");
        expectSound(chunks, "the answer");
        expectThat(findError(chunks) === undefined, `it ended with the error ${findError(chunks)?.message}`);
        const [message, ...others] = messagesOf(chunks);
        expectThat(message !== undefined && others.length === 0, `${others.length + 1} messages instead of one`);
        const shown = chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.text : "")).join("");
        const text = message?.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
        expectThat(shown !== "", "there was no text-delta with text");
        expectSame(text, shown, "the text of the message");
        expectThat(message?.stopReason !== undefined, "the message has no stopReason");
      },
    ],
    [
      "every tool call of the message is a tool-call after it, to be executed by millrace",
      async () => {
        const chunks = await ask("tool-call");
        expectSound(chunks, "the answer");
        const calls = chunks.filter((chunk) => chunk.type === "tool-call");
        expectThat(calls.length > 0, "there was no tool-call");
        expectThat(
          calls.every((call) => call.executedBy === "millrace" && call.name === "echo"),
          "a call is not ours",
        );
        const blocks = messagesOf(chunks).flatMap(({ blocks }) => blocks.filter((block) => block.type === "tool-call"));
        const idAndInput = ({ callId, input }: { readonly callId: string; readonly input: unknown }) => [callId, input];
        expectSame(calls.map(idAndInput), blocks.map(idAndInput), "the calls");
      },
    ],
    [
      "ids are new in every reply",
      async () => {
        const backend = createBackend("tool-call");
        const ids = (chunks: readonly Chunk[]): readonly string[] =>
          chunks.flatMap((chunk) =>
            chunk.type === "message" ? [chunk.id] : chunk.type === "tool-call" ? [chunk.callId] : [],
          );
        const first = ids(await collect(backend));
        const second = ids(await collect(backend));
        const doubled = first.filter((id) => second.includes(id));
        expectThat(doubled.length === 0, `${doubled.join(", ")} came in two replies`);
      },
    ],
    ...(["failure", "cut"] as const).map(
      (situation): Trial<undefined> => [
        situation === "failure"
          ? "a failure is a terminal error, the last thing it yields"
          : "a reply that is cut is no success, and runs no tool",
        async () => {
          const chunks = await ask(situation);
          expectThat(!chunks.some(({ type }) => type === "tool-call"), "there was a tool-call");
          const error = findError(chunks);
          if (situation === "failure") expectThat(error !== undefined, "there was no terminal error");
          // The run reports a stream without a message as cut.
          else expectThat(error !== undefined || messagesOf(chunks).length === 0, "it ended as if it were complete");
          if (error !== undefined) expectSound(chunks, situation);
        },
      ],
    ),
    [
      "it ends when the signal fires, without its own error",
      async () => {
        const controller = new AbortController();
        const chunks: Chunk[] = [];
        for await (const batch of createBackend("stall").stream(REQUEST, controller.signal)) {
          chunks.push(...batch);
          controller.abort();
        }
        expectThat(findError(chunks) === undefined, `it reported ${findError(chunks)?.message}`);
      },
    ],
    [
      "it can be left in the middle of a reply, and asked again",
      async () => {
        const backend = createBackend("answer");
        for await (const _ of backend.stream(REQUEST, new AbortController().signal)) break;
        const chunks = await collect(backend);
        expectThat(messagesOf(chunks).length === 1, "the next reply had no message");
      },
    ],
    [
      "nothing is shown of a reply that was aborted before it was asked for",
      async () => {
        const chunks = await collect(createBackend("answer"), AbortSignal.abort());
        expectThat(findError(chunks) === undefined, `it reported ${findError(chunks)?.message}`);
        expectThat(messagesOf(chunks).length === 0, "there was a message");
      },
    ],
  ];
  return runTrials(trials, () => undefined);
}

async function collect(backend: ModelBackend, signal = new AbortController().signal): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of backend.stream(REQUEST, signal)) chunks.push(...batch);
  return chunks;
}

function messagesOf(chunks: readonly Chunk[]) {
  return chunks.filter((chunk) => chunk.type === "message");
}

function findError(chunks: readonly Chunk[]) {
  return chunks.find((chunk) => chunk.type === "error" && chunk.terminal) as
    | Extract<Chunk, { type: "error" }>
    | undefined;
}
