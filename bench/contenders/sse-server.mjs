// Our server with a hand-written model, whose text arrives in bursts of 64 deltas per turn of the event loop.
import { agent } from "millrace";
import { createServer } from "millrace/server";
import { word } from "../bodies.mjs";

const BURST = 64;

export async function openServer(store) {
  let job;
  const backend = {
    kind: "model",
    name: "bench",
    model: "bench",
    async *stream() {
      const { count, begun } = job;
      const id = `message-${count}`;
      await begun;
      let text = "";
      for (let at = 0; at < count; at += BURST) {
        await new Promise(setImmediate);
        const burst = [];
        for (let index = at; index < Math.min(at + BURST, count); index += 1) {
          text += word(index);
          burst.push({ type: "text-delta", seq: -1, ts: 0.5, runId: "", messageId: id, index: 0, text: word(index) });
        }
        yield burst;
      }
      yield [
        {
          type: "message",
          seq: -1,
          ts: 0.5,
          runId: "",
          id,
          role: "assistant",
          blocks: [{ type: "text", text }],
          stopReason: "end-turn",
          usage: { inputTokens: 5, outputTokens: 7 },
        },
      ];
    },
  };
  const server = createServer({ store, target: "bench", agents: [agent({ name: "bench", backend })], page: false });
  const { port, url } = await server.listen();
  const post = (path, body) =>
    server.fetch(
      new Request(`${url}${path}`, {
        method: "POST",
        headers: { host: `127.0.0.1:${port}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  return {
    port,
    /** Starts the request to the model, which then waits: all readers are connected before its first delta. */
    async begin(count) {
      let go;
      job = { count, begun: new Promise((resolve) => (go = resolve)) };
      const { id } = await (await post("/api/threads", {})).json();
      const answer = await post(`/api/threads/${id}/chat`, { input: "go" });
      const runId = answer.headers.get("x-run-id");
      if (runId === null) throw new Error(`${answer.status} ${await answer.text()}`);
      // The stream of the question is one reader too many; leaving it does not end the run.
      await answer.body.cancel();
      return { path: `/api/runs/${runId}/events?after=-1`, go: async () => go() };
    },
    close: () => server.close(),
  };
}
