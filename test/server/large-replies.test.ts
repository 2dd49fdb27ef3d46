import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Block, messageItem, textDelta, toolCallItem } from "#domain";
import { agent, systemWorld } from "#runtime";
import type { Store } from "#sessions";
import { assertRunLog, createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { createSystemFiles, startWorker, systemClock } from "#transports";
import { createSseFrames } from "#views";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, readFrames, startServer } from "./support.ts";

const TEXT = 'A sentence with a "quote", an é and a 𝄞.\n'.repeat(32_000);

const STORES: readonly [string, (folder: string) => Promise<Store>][] = [
  ["memory", async () => createMemoryStore()],
  ["SQLite", (folder) => openSqliteStore({ folder, clock: systemClock, files: createSystemFiles(), startWorker })],
];

describe.each(STORES)("F-B1: a reply of more than a megabyte, over the %s store", (_, open) => {
  it("reaches who follows it and who comes later, whole and in small pieces, and is kept", async () => {
    const folder = temporaryFolder("large");
    const store = await open(join(folder, "data"));
    const reply = [
      textDelta("m", 0, TEXT),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: TEXT }] }),
    ];
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([reply]) });
    let turns = 0;
    const world = systemWorld();
    const nextTurn = (): Promise<void> => ((turns += 1), world.nextTurn?.() ?? Promise.resolve());
    const { ask, server } = startServer({ store, agents: [clerk], target: "clerk", world: { ...world, nextTurn } });
    const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { id: string };
    const response = await ask("POST", `/api/threads/${id}/chat`, { input: "Go on" });
    const runId = response.headers.get("x-run-id") as string;
    // A reader that takes nothing until everything is over.
    const stalled = await ask("GET", `/api/runs/${runId}/events`);
    /** Reads an answer, of which no piece may be large, each written in a turn of its own. */
    const readPieces = async (answer: Response): Promise<string> => {
      let text = "";
      const decoder = new TextDecoder();
      const before = turns;
      for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
        expect(piece.length).toBeLessThanOrEqual(262_144);
        text += decoder.decode(piece, { stream: true });
      }
      expect(turns - before).toBeGreaterThan(text.length / 262_144);
      return text;
    };
    const text = await readPieces(response);
    const events = readFrames(text).map(({ data }) => JSON.parse(data));
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(events.at(-1).result.text).toBe(TEXT);
    expect(await readEvents(await ask("GET", `/api/runs/${runId}/events`))).toEqual(events);
    expect(await readEvents(stalled)).toEqual(events);
    for (const seq of [0, events.at(-2).seq]) {
      const late = await ask("GET", `/api/runs/${runId}/events?after=${seq}`);
      expect(await readEvents(late)).toEqual(events.filter((event) => event.seq > seq));
    }
    expect((await store.listMessages("local", id)).at(-1)?.blocks).toEqual([{ type: "text", text: TEXT }]);
    const message = { role: "assistant", blocks: [{ type: "text", text: TEXT }] };
    const shown = async (path: string): Promise<unknown> => JSON.parse(await readPieces(await ask("GET", path)));
    expect(await shown(`/api/threads/${id}/messages`)).toMatchObject({ messages: [{}, message] });
    expect(await shown(`/api/threads/${id}`)).toMatchObject({ thread: { id }, messages: [{}, message] });
    expect(await shown(`/api/runs/${runId}`)).toEqual({
      ...{ id: runId, threadId: id, createdAt: expect.any(Number), lastSeq: events.at(-1).seq },
      ...{ status: "success", result: events.at(-1).result },
    });
    const lines = (await readPieces(await ask("GET", `/api/threads/${id}/export`))).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line)).slice(3)).toEqual(events.map((event) => ({ kind: "event", event })));
    expect(await readPieces(await ask("GET", `/api/threads/${id}/export?format=markdown`))).toContain(TEXT);
    for (const vocabulary of ["runner", "chat"] as const) {
      const frames = createSseFrames(vocabulary);
      const told = await readPieces(await ask("GET", `/api/runs/${runId}/events?events=${vocabulary}`));
      const expected = events.flatMap((event) => frames.next(event)).join("");
      // Ours begins with how long a reader is to wait before it comes back.
      expect(told.endsWith(expected)).toBe(true);
      expect(told.length - expected.length).toBeLessThan(32);
    }
    await server.close();
    await store.close();
  });

  it("is exported as markdown in small pieces, thinking and arguments with very many members too", async () => {
    const folder = temporaryFolder("large");
    const store = await open(join(folder, "data"));
    const input = { fenced: "a ```` b", rows: Array.from({ length: 40_000 }, (_, at) => ({ at, name: `row ${at}` })) };
    const call = { callId: "c", name: "keep", input };
    const blocks: Block[] = [
      { type: "thinking", text: TEXT },
      { type: "tool-call", ...call },
    ];
    const reply = [
      messageItem({ id: "m", role: "assistant", blocks, stopReason: "tool-use" }),
      toolCallItem({ ...call, executedBy: "millrace" }),
    ];
    const keep = tool({ name: "keep", description: "Keeps it.", input: { type: "object" }, run: () => "kept" });
    const backend = createScriptedBackend([reply, { text: "Kept." }]);
    const clerk = agent({ name: "clerk", backend, tools: [keep] });
    let turns = 0;
    const world = systemWorld();
    const nextTurn = (): Promise<void> => ((turns += 1), world.nextTurn?.() ?? Promise.resolve());
    const { ask, server } = startServer({ store, agents: [clerk], target: "clerk", world: { ...world, nextTurn } });
    const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { id: string };
    await (await ask("POST", `/api/threads/${id}/chat`, { input: "Go on" })).text();
    const before = turns;
    const markdown = await (await ask("GET", `/api/threads/${id}/export?format=markdown`)).text();
    const thinking = TEXT.split("\n")
      .map((line) => `> ${line}`)
      .join("\n");
    const args = `\`\`\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\`\``;
    const shown = `## Assistant\n\n${thinking}\n\nCalls \`keep\`:\n\n${args}\n\n## Tool results\n`;
    // Not `toContain`: it would print megabytes.
    expect(markdown.includes(shown)).toBe(true);
    // Once for what is written, and once more for the fences around the arguments.
    expect(turns - before).toBeGreaterThan((markdown.length + JSON.stringify(input).length) / 131_072);
    await server.close();
    await store.close();
  });
});
