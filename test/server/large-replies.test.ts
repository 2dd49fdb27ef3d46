import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageItem, textDelta } from "#domain";
import { agent, systemWorld } from "#runtime";
import type { Store } from "#sessions";
import { assertRunLog, createScriptedBackend } from "#testing";
import { createSystemFiles, startThread, systemClock } from "#transports";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { readEvents, readFrames, startServer } from "./support.ts";

const TEXT = 'A sentence with a "quote", an é and a 𝄞.\n'.repeat(32_000);

const STORES: readonly [string, (folder: string) => Promise<Store>][] = [
  ["memory", async () => createMemoryStore()],
  ["SQLite", (folder) => openSqliteStore({ folder, clock: systemClock, files: createSystemFiles(), startThread })],
];

describe.each(STORES)("F-B1: a reply of more than a megabyte, over the %s store", (_, open) => {
  it("reaches who follows it and who comes later, whole and in small pieces, and is kept", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-large-"));
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
    await server.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
