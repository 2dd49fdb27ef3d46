import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { messageItem, textDelta } from "#domain";
import { agent } from "#runtime";
import { createServer } from "#server";
import { createScriptedBackend, type ScriptedReply } from "#testing";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { followSse } from "./support.ts";

const FULL = process.env["MILLRACE_FULL"] === "1";
const STREAMS = FULL ? 1000 : 100;
const SECONDS = FULL ? 60 : 3;
const PER_SECOND = 10;
const WAVE = 10;

/** Each word carries the moment it was said, so that its reader knows how long it took. */
const speak: ScriptedReply = async function* () {
  const words: string[] = [];
  for (let at = 0; at < SECONDS * PER_SECOND; at += 1) {
    words.push(`${Date.now()} `);
    yield [textDelta("m", 0, words.at(-1) ?? "")];
    await new Promise((resolve) => setTimeout(resolve, 1000 / PER_SECOND));
  }
  yield [
    messageItem({
      id: "m",
      role: "assistant",
      blocks: [{ type: "text", text: words.join("") }],
      stopReason: "end-turn",
    }),
  ];
};

describe("R15: load", () => {
  it(`${STREAMS} streams with ${PER_SECOND} events a second for ${SECONDS} s: nothing is lost, and nobody waits long`, async () => {
    const server = createServer({
      store: createMemoryStore(),
      agents: [agent({ name: "clerk", backend: createScriptedBackend([speak]) })],
      target: "clerk",
      page: false,
      limits: { requestsPerMinute: 1e9, streams: 5000, runs: 5000 },
    });
    const { url, port } = await server.listen();
    const json = { "content-type": "application/json" };
    const delays: number[] = [];
    let words = 0;

    /** Opens a stream; what comes back is the reading of it. */
    const open = async (): Promise<{ readonly read: Promise<void> }> => {
      const created = await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: json });
      const { id } = (await created.json()) as { id: string };
      const chat = await fetch(`${url}/api/threads/${id}/chat`, {
        method: "POST",
        body: '{"input":"x"}',
        headers: json,
      });
      const runId = chat.headers.get("x-run-id");
      await chat.body?.cancel();
      let isOpen = (): void => undefined;
      const opened = new Promise<void>((resolve) => {
        isOpen = resolve;
      });
      const read = new Promise<void>((resolve, reject) => {
        let next = 0;
        get({ port, host: "127.0.0.1", path: `/api/runs/${runId}/events`, agent: false }, (response) => {
          const since = Date.now();
          isOpen();
          const reading = followSse(response, (event) => {
            // What was said before somebody listened comes merged, and waited for him.
            expect("firstSeq" in event ? (event.firstSeq ?? event.seq) : event.seq).toBe(next);
            next = event.seq + 1;
            if (event.type !== "text-delta") return;
            const said = event.text.trim().split(" ").map(Number);
            words += said.length;
            for (const at of said) if (at >= since) delays.push(Date.now() - at);
          });
          reading
            .then((end) => {
              expect(end).toBe("done");
              resolve();
            })
            .catch(reject);
        }).on("error", reject);
      });
      await Promise.race([opened, read]);
      return { read };
    };
    const readings: Promise<void>[] = [];
    // As they come in life: one after the other, not a thousand in one breath.
    while (readings.length < STREAMS) {
      const wave = await Promise.all(Array.from({ length: WAVE }, open));
      readings.push(...wave.map(({ read }) => read));
    }
    await Promise.all(readings);
    expect(words).toBe(STREAMS * SECONDS * PER_SECOND);
    delays.sort((left, right) => left - right);
    const p99 = delays[Math.floor(delays.length * 0.99)] ?? 0;
    // 250 ms where nothing else runs; in the ordinary suite this only shows that nobody starves.
    expect(p99).toBeLessThan(FULL ? 250 : 2500);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/millrace_streams_open 0/);
    await server.close();
  }, 300_000);
});
