import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent } from "#runtime";
import type { Store } from "#sessions";
import { createScriptedBackend } from "#testing";
import { createSystemFiles, systemClock } from "#transports";
import { loadSqlDriver } from "../../src/sessions/stores/sqlite/sql-driver.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { readText, startServer, type TestServer } from "./support.ts";

const folder = temporaryFolder("injection");
let store: Store;
let server: TestServer;

beforeAll(async () => {
  store = await openSqliteStore({ folder: join(folder, "data"), clock: systemClock, files: createSystemFiles() });
  server = startServer({
    store,
    agents: [agent({ name: "clerk", backend: createScriptedBackend([{ text: "ok" }]) })],
    target: "clerk",
    tokens: [
      { token: "token-of-the-attacker", tenant: "attacker" },
      { token: "token-of-the-victim-1", tenant: "victim" },
    ],
    limits: { requestsPerMinute: 1e9 },
  });
  await server.ask("POST", "/api/threads", { title: "CANARY" }, { authorization: "Bearer token-of-the-victim-1" });
});
afterAll(() => store.close());

const TAILS = ["", " --", "; --", "/*", "' --", '" --', ")--", "')--", "%00", "\0"];
const HEARTS = [
  "' OR '1'='1",
  "' OR 1=1",
  '" OR "1"="1',
  "'; DROP TABLE threads",
  "'; DELETE FROM messages",
  "') UNION SELECT * FROM threads",
  "' UNION SELECT id, tenant, title, target, 1, 1 FROM threads",
  "1; PRAGMA writable_schema=1",
  "'; ATTACH DATABASE '/tmp/x' AS x",
  "' AND tenant='victim",
  "?1",
  ":tenant",
  "$.title') OR json_extract('",
  "%' OR '%'='",
  "_%",
  "\\' OR 1=1",
  "\u02bc OR 1=1",
  "' || (SELECT title FROM threads) || '",
  "'; SELECT load_extension('/tmp/x')",
  '{"$ne":null}',
];
const PAYLOADS = HEARTS.flatMap((heart) => TAILS.map((tail) => heart + tail));

const headers = { authorization: "Bearer token-of-the-attacker" };

describe("SEC15: injection", () => {
  it(`${PAYLOADS.length} texts in searches, cursors, ids, titles, targets and messages change and show nothing they should not`, async () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(200);
    const mine = (await (await server.ask("POST", "/api/threads", {}, headers)).json()) as { id: string };
    for (const text of PAYLOADS) {
      const encoded = encodeURIComponent(text);
      const found = await server.ask("GET", `/api/threads?q=${encoded}`, undefined, headers);
      expect([text, found.status]).toEqual([text, 200]);
      expect(await found.text()).not.toContain("CANARY");
      for (const path of [
        `/api/threads?before=${encoded}`,
        `/api/threads?limit=${encoded}`,
        `/api/threads/${encoded}`,
        `/api/runs/${encoded}`,
        `/api/runs/x/events?after=${encoded}`,
      ]) {
        const response = await server.ask("GET", path, undefined, headers);
        expect([path, response.status]).toEqual([path, expect.toBeOneOf([400, 404])]);
        expect(await response.text()).not.toContain("CANARY");
      }
      const renamed = await server.ask("PATCH", `/api/threads/${mine.id}`, { title: text }, headers);
      expect(((await renamed.json()) as { title: string }).title).toBe(text);
      expect((await server.ask("POST", "/api/threads", { target: text }, headers)).status).toBe(400);
    }
    for (const text of HEARTS) {
      await readText(await server.ask("POST", `/api/threads/${mine.id}/chat`, { input: text }, headers));
    }
    const messages = await store.listMessages("attacker", mine.id);
    expect(
      messages.filter(({ role }) => role === "user").map(({ blocks }) => (blocks[0] as { text: string }).text),
    ).toEqual(HEARTS);
    expect((await store.listThreads({ tenant: "victim" })).threads).toMatchObject([{ title: "CANARY" }]);
    const database = (await loadSqlDriver()).open(join(folder, "data", "millrace.sqlite"));
    expect(database.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
    database.close();
  });
});
