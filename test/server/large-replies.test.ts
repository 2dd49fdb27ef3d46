import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageItem, textDelta } from "#domain";
import { agent } from "#runtime";
import type { Store } from "#sessions";
import { assertRunLog, createScriptedBackend } from "#testing";
import { createSystemFiles, startThread, systemClock } from "#transports";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { readEvents, readFrames, startServer } from "./support.ts";

const TEXT = 'A sentence with a "quote", an é and a 𝄞.\n'.repeat(75_000);

const STORES: readonly [string, (folder: string) => Promise<Store>][] = [
  ["memory", async () => createMemoryStore()],
  ["SQLite", (folder) => openSqliteStore({ folder, clock: systemClock, files: createSystemFiles(), startThread })],
];

describe.each(STORES)("F-B1: a reply of three megabytes, over the %s store", (_, open) => {
  it("reaches who follows it and who comes later, whole and in small pieces, and is kept", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-large-"));
    const store = await open(join(folder, "data"));
    const reply = [
      textDelta("m", 0, TEXT),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: TEXT }] }),
    ];
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([reply]) });
    const { ask, server } = startServer({ store, agents: [clerk], target: "clerk" });
    const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { id: string };
    const response = await ask("POST", `/api/threads/${id}/chat`, { input: "Go on" });
    const runId = response.headers.get("x-run-id") as string;
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      expect(piece.length).toBeLessThanOrEqual(262_144);
      text += decoder.decode(piece, { stream: true });
    }
    const events = readFrames(text).map(({ data }) => JSON.parse(data));
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(events.at(-1).result.text).toBe(TEXT);
    expect(await readEvents(await ask("GET", `/api/runs/${runId}/events`))).toEqual(events);
    expect((await store.listMessages("local", id)).at(-1)?.blocks).toEqual([{ type: "text", text: TEXT }]);
    await server.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
