import type { AgentBackend, AgentLink, AgentSettings } from "#backends";
import type { Chunk, Message } from "#domain";
import { expectSame, expectThat, type Failure, runTrials, type Trial } from "./conformance.ts";
import { expectSound } from "./sound-chunks.ts";

/** How an agent behaves when it is sent a message. */
export type AgentSituation =
  /** Answers with some text. */
  | "answer"
  /** Calls the offered tool, `echo`, and then answers. */
  | "tool-call"
  /** Fails, or ends without a verdict. */
  | "failure"
  /** Begins to answer, and then does nothing more. */
  | "stall";

const MESSAGES: readonly Message[] = [{ id: "message-1", role: "user", blocks: [{ type: "text", text: "Hello" }] }];

/**
 * Tests an agent backend against the contract of `AgentBackend` and returns the failures. Works with any test runner.
 *
 * `createBackend` returns a backend whose agent behaves according to the situation.
 *
 * @example
 * async function testMyAgent(create: (situation: AgentSituation) => AgentBackend) {
 *   assert.deepEqual(await checkAgentBackend(create), [])
 * }
 */
export function checkAgentBackend(
  createBackend: (situation: AgentSituation) => AgentBackend,
): Promise<readonly Failure[]> {
  const trials: readonly Trial<undefined>[] = [
    [
      "explain does nothing, and says the same each time",
      () => {
        const backend = createBackend("answer");
        expectSame(backend.explain(SETTINGS), backend.explain(SETTINGS), "the second explanation");
      },
    ],
    [
      "a turn is a start, messages and one result, which is the last",
      async () => {
        const { chunks } = await play(createBackend("answer"));
        expectSound(chunks, "the turn");
        expectSame(chunks.find(({ type }) => type !== "notice" && type !== "warning")?.type, "start", "the first item");
        expectSame(chunks.filter(({ type }) => type === "result").length, 1, "the number of results");
        expectThat(
          chunks.some((chunk) => chunk.type === "message" && chunk.role === "assistant"),
          "there was no message of the assistant",
        );
      },
    ],
    [
      "a call is written, then checked, then run, then answered",
      async () => {
        const { chunks, steps } = await play(createBackend("tool-call"));
        expectSound(chunks, "the turn");
        expectSame(steps, ["tool-call", "check", "redeem", "run", "check result", "tool-result"], "what happened");
      },
    ],
    [
      "a call that is denied is answered as denied, and does not run",
      async () => {
        const { chunks, steps } = await play(createBackend("tool-call"), { denies: true });
        expectSound(chunks, "the turn");
        expectThat(!steps.includes("run"), "the tool was run");
        const answer = chunks.find((chunk) => chunk.type === "tool-result");
        expectSame([answer?.isError, answer?.skipped], [true, "denied"], "isError and skipped of the tool-result");
      },
    ],
    [
      "a failure is a terminal error; send does not reject",
      async () => {
        const { chunks } = await play(createBackend("failure"));
        expectSound(chunks, "the turn");
        const failed = chunks.some((chunk) =>
          chunk.type === "error" ? chunk.terminal : chunk.type === "result" && chunk.isError,
        );
        expectThat(failed, "there was neither a terminal error nor a result that is one");
      },
    ],
    [
      "send ends when the signal fires, and close can be called twice",
      async () => {
        const controller = new AbortController();
        const { chunks } = await play(createBackend("stall"), { controller });
        expectThat(!chunks.some((chunk) => chunk.type === "result" && !chunk.isError), "the turn was called a success");
      },
    ],
    [
      "nothing is written while a reader lags",
      async () => {
        const { early } = await play(createBackend("answer"), { lags: true });
        expectSame(early, 0, "the number of writes before the reader was ready");
      },
    ],
  ];
  return runTrials(trials, () => undefined);
}

interface PlayOptions {
  readonly denies?: boolean;
  /** Aborted as soon as something was written. */
  readonly controller?: AbortController;
  readonly lags?: boolean;
}

interface Played {
  readonly chunks: readonly Chunk[];
  /** What happened to the call, in order. */
  readonly steps: readonly string[];
  readonly early: number;
}

const echo: AgentSettings["tools"][number] = {
  name: "echo",
  description: "Gives back the text it is given",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  timeoutMs: undefined,
  parse: (input) => Promise.resolve({ fits: true, value: input }),
  run: ({ text }: { readonly text: string }) => text,
};

const SETTINGS: AgentSettings = {
  instructions: undefined,
  tools: [echo],
  features: ["tools"],
  outputSchema: undefined,
  turns: undefined,
  costUsd: undefined,
  resume: undefined,
  cwd: undefined,
  env: {},
  strict: false,
};

/** Opens a conversation, has it answer once, and closes it twice. */
async function play(backend: AgentBackend, options: PlayOptions = {}): Promise<Played> {
  const { denies = false, controller = new AbortController(), lags = false } = options;
  const chunks: Chunk[] = [];
  const steps: string[] = [];
  const cleanUps: Promise<unknown>[] = [];
  let early = 0;
  let isLagging = false;
  const nothingMore = { notes: [], stop: undefined };
  const link: AgentLink = {
    runId: "run-1",
    signal: controller.signal,
    write(written) {
      if (isLagging) early += 1;
      chunks.push(...written);
      for (const { type } of written) if (type === "tool-call" || type === "tool-result") steps.push(type);
      if (options.controller !== undefined && written.some(({ type }) => type !== "start")) controller.abort();
      if (!lags) return undefined;
      isLagging = true;
      // Several rounds of microtasks: a writer that does not wait has written again by then.
      return Array.from({ length: 20 })
        .reduce<Promise<void>>((wait) => wait.then(() => undefined), Promise.resolve())
        .then(() => {
          isLagging = false;
        });
    },
    policy: {
      isSilentOnTools: false,
      isSilentOnOutput: true,
      checkPrompt: (messages) => Promise.resolve({ kind: "go", messages, ...nothingMore }),
      checkCall({ input }) {
        steps.push("check");
        if (denies)
          return Promise.resolve({ kind: "denied", reason: "It is not allowed.", by: "rule", ...nothingMore });
        let isUsed = false;
        const redeem = (given: unknown): boolean => {
          steps.push("redeem");
          const isRight = !isUsed && given === input;
          isUsed = true;
          return isRight;
        };
        return Promise.resolve({ kind: "run", input, grant: { redeem }, ...nothingMore });
      },
      checkResult(_, outcome) {
        steps.push("check result");
        return Promise.resolve({ ...outcome, ...nothingMore });
      },
      checkHandoff: ({ message }) => Promise.resolve({ kind: "go", message, ...nothingMore }),
      noteHandoff: () => Promise.resolve(nothingMore),
      checkStop: () => Promise.resolve({ kind: "stop", ...nothingMore }),
      noteEnd: () => Promise.resolve(),
      createOutputGate: () => ({ pass: (held) => Promise.resolve(held), drop: () => undefined, denial: undefined }),
    },
    cleanUp: (work) => void cleanUps.push(work),
    runTool({ input }) {
      steps.push("run");
      return Promise.resolve({ kind: "returned", output: JSON.stringify(input) });
    },
  };
  const conversation = await backend.open(SETTINGS);
  try {
    await conversation.send(MESSAGES, link);
  } finally {
    await conversation.close();
    await conversation.close();
  }
  await Promise.all(cleanUps);
  return { chunks, steps, early };
}
