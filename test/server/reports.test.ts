import { describe, expect, it } from "vitest";
import { agent } from "#runtime";
import { createServer, type ServerOptions } from "#server";
import { createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { decodeEvent } from "#wire";
import { readFrames } from "./support.ts";

const draw = tool("draw", "Draw a chart", { title: "string" }, ({ title }, { artifact, documents }) => {
  documents([{ id: "handbook" }]);
  artifact({ name: title, url: "https://charts.example/1" });
  return "drawn";
});
const search = tool("search", "Search", { words: "string" }, () => ({ page: 7, file: "report.pdf" }));

const replies = [
  {
    calls: [
      { name: "draw", input: { title: "Sales" } },
      { name: "search", input: { words: "sales" } },
    ],
  },
  { text: "Here it is." },
];

/** A real server on a socket; what is asked of it, it is asked over HTTP. */
async function withServer<Value>(
  options: Partial<ServerOptions>,
  use: (ask: (path: string, body?: unknown) => Promise<Response>) => Promise<Value>,
): Promise<Value> {
  const clerk = agent({ name: "clerk", backend: createScriptedBackend(replies), tools: [draw, search] });
  const server = createServer({
    store: createMemoryStore(),
    agents: [clerk],
    target: "clerk",
    page: false,
    ...options,
  });
  const { url } = await server.listen({ port: 0 });
  const ask = (path: string, body?: unknown): Promise<Response> =>
    fetch(new URL(path, url), {
      ...(body !== undefined && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
  try {
    return await use(ask);
  } finally {
    await server.close();
  }
}

type Ask = (path: string, body?: unknown) => Promise<Response>;

async function chat(ask: Ask, words: string) {
  const { id } = (await (await ask("/api/threads", {})).json()) as { id: string };
  const response = await ask(`/api/threads/${id}/chat?events=${words}`, { input: "Draw it" });
  const frames = readFrames(await response.text());
  const runId = response.headers.get("x-run-id") ?? "";
  return { runId, frames };
}

const DRAWN = { name: "Sales", url: "https://charts.example/1" };

describe("S3-33 over HTTP: artifact_created and documents_used", () => {
  it("what tools report, in the vocabulary chat", async () => {
    await withServer({}, async (ask) => {
      const { frames } = await chat(ask, "chat");
      expect(frames.filter(({ event }) => event === "artifact_created").map(({ data }) => JSON.parse(data))).toEqual([
        DRAWN,
      ]);
      const complete = frames.find(({ event }) => event === "message_complete");
      expect(JSON.parse(complete?.data ?? "")).toMatchObject({
        content: "Here it is.",
        documents_used: [{ id: "handbook" }],
      });
    });
  });

  it("the operator's mappings of results come with them, also for a late reader", async () => {
    const reports = {
      artifactOf: ({ name, output }: { name: string; output: unknown }) =>
        name === "search" ? { name: (output as { file: string }).file } : undefined,
      documentsOf: ({ name, output }: { name: string; output: unknown }) => (name === "search" ? [output] : []),
    };
    await withServer({ reports }, async (ask) => {
      const { runId, frames } = await chat(ask, "chat");
      const made = frames.filter(({ event }) => event === "artifact_created").map(({ data }) => JSON.parse(data));
      expect(made).toHaveLength(2);
      expect(made).toEqual(expect.arrayContaining([DRAWN, { name: "report.pdf" }]));
      const complete = frames.find(({ event }) => event === "message_complete");
      expect((JSON.parse(complete?.data ?? "") as { documents_used: unknown[] }).documents_used).toHaveLength(2);
      const later = readFrames(await (await ask(`/api/runs/${runId}/events?events=chat`)).text());
      expect(later).toEqual(frames);
    });
  });

  it("in the vocabulary runner, and as notices in our own", async () => {
    await withServer({}, async (ask) => {
      const { runId, frames } = await chat(ask, "runner");
      const steps = frames
        .filter(({ event }) => event === "RunItemEvent")
        .map(({ data }) => JSON.parse(data) as { name: string; data: unknown });
      expect(steps.filter(({ name }) => /artifact|documents/.test(name))).toMatchObject([
        { name: "documents_used", data: { tool_name: "draw", documents: [{ id: "handbook" }] } },
        { name: "artifact_created", data: { tool_name: "draw", artifact: DRAWN } },
      ]);
      const own = readFrames(await (await ask(`/api/runs/${runId}/events`)).text());
      const kinds = own.flatMap(({ data }) => {
        const { event } = decodeEvent(data);
        return event?.type === "notice" ? [event.kind] : [];
      });
      expect(kinds).toEqual(["documents", "artifact"]);
    });
  });

  it.each([
    [{ reports: { artifactOf: "x" } }, /reports.artifactOf is a string. Give a function/],
    [{ reports: { artifactsOf: () => 1 } }, /artifactsOf.*Did you mean artifactOf\?/],
  ])("%j is refused by name", (options, reason) => {
    expect(() => createServer({ store: createMemoryStore(), page: false, ...(options as object) })).toThrow(reason);
  });
});
