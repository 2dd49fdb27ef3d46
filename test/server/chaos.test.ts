import { get, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { type AgentEvent, messageItem, textDelta } from "#domain";
import { agent } from "#runtime";
import { createServer } from "#server";
import { assertRunLog, createScriptedBackend, createSeededRandom, type ScriptedReply } from "#testing";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { byEffort } from "../effort.ts";
import { drawToxic, startChaosProxy } from "./chaos-proxy.ts";
import { followSse } from "./support.ts";

const SCHEDULES = byEffort({ quick: 12, full: 1000, nightly: 10_000 });
/** Drawn anew each time, so that every run of the suite tries other schedules; given, it repeats one. */
const SEED = Number(process.env["MILLRACE_SEED"] ?? Math.floor(Math.random() * 1_000_000_000));
const READERS = 3;
/** A reader that receives nothing for this long connects again. Real ones wait for three heartbeats. */
const SILENCE_MS = 250;
const WORDS = 60;

const speak: ScriptedReply = async function* () {
  const text: string[] = [];
  for (let at = 0; at < WORDS; at += 1) {
    text.push(`word ${at} ${"é".repeat(at % 50)}\n`);
    yield [textDelta("m", 0, text.at(-1) ?? "")];
    if (at % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  yield [
    messageItem({
      id: "m",
      role: "assistant",
      blocks: [{ type: "text", text: text.join("") }],
      stopReason: "end-turn",
    }),
  ];
};

/** One visit: everything behind the cursor until the connection is over. */
function visit(
  port: number,
  runId: string,
  after: number,
  { see, silenceMs }: { readonly see: (event: AgentEvent) => void; readonly silenceMs: number },
): Promise<"done" | "broken"> {
  return new Promise((resolve) => {
    const request = get(
      {
        port,
        host: "127.0.0.1",
        path: `/api/runs/${runId}/events`,
        headers: { host: "localhost", "last-event-id": String(after) },
        agent: false,
        timeout: silenceMs,
      },
      (response: IncomingMessage) => {
        // The last event was seen; only the end of the stream was not.
        if (response.statusCode === 204) {
          response.resume();
          resolve("done");
          return;
        }
        followSse(response, see).then(
          (end) => {
            response.destroy();
            resolve(end);
          },
          () => resolve("broken"),
        );
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve("broken"));
    request.on("close", () => setTimeout(() => resolve("broken"), silenceMs));
  });
}

async function readThrough(port: number, runId: string): Promise<{ seqs: number[]; visits: number }> {
  const seqs: number[] = [];
  const see = ({ seq }: AgentEvent): number => seqs.push(seq);
  // Longer after a visit in vain: on a busy machine even a healthy server may be silent that long.
  let silenceMs = SILENCE_MS;
  for (let visits = 1; visits <= 400; visits += 1) {
    const before = seqs.length;
    const end = await visit(port, runId, seqs.at(-1) ?? -1, { see, silenceMs });
    if (end === "done") return { seqs, visits };
    silenceMs = seqs.length > before ? SILENCE_MS : Math.min(silenceMs * 1.5, 10_000);
  }
  throw new Error(`run ${runId} was not read to its end`);
}

describe("R5: network faults", () => {
  it(`${SCHEDULES} schedules, ${READERS} readers each: every one sees the whole log, nothing lost, doubled or out of order`, async () => {
    const store = createMemoryStore();
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([speak]) });
    const limits = { requestsPerMinute: 1e9, streams: 10_000, stallMs: 2000 };
    const server = createServer({ store, agents: [clerk], target: "clerk", page: false, limits });
    const { url, port } = await server.listen();
    let visits = 0;

    const schedule = async (seed: number): Promise<void> => {
      const random = createSeededRandom(seed);
      const proxy = await startChaosProxy(port, () => drawToxic(random));
      const json = { "content-type": "application/json" };
      const created = await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: json });
      const { id } = (await created.json()) as { id: string };
      const chat = await fetch(`${url}/api/threads/${id}/chat`, {
        method: "POST",
        body: '{"input":"go"}',
        headers: json,
      });
      const runId = chat.headers.get("x-run-id") ?? "";
      await chat.body?.cancel();
      const readers = await Promise.all(Array.from({ length: READERS }, () => readThrough(proxy.port, runId)));
      await proxy.close();
      const log = await store.read(runId);
      assertRunLog(log);
      for (const reader of readers) {
        expect(reader.seqs, `seed ${seed}: MILLRACE_SEED=${seed}`).toEqual(log.map(({ seq }) => seq));
        visits += reader.visits;
      }
    };

    console.log(`R5: ${SCHEDULES} schedules from MILLRACE_SEED=${SEED} on`);
    let next = SEED;
    const worker = async (): Promise<void> => {
      while (next < SEED + SCHEDULES) await schedule(next++);
    };
    await Promise.all(Array.from({ length: 10 }, worker));
    await server.close();
    // The faults did happen: on the average every reader had to come back.
    expect(visits).toBeGreaterThan(SCHEDULES * READERS * 1.5);
  }, 600_000);
});
