import pg from "pg";
import { expect, it } from "vitest";
import { type AgentEvent, isStartError, noticeItem } from "#domain";
import { isStoreError, type Store } from "#sessions";
import { closeRunLog } from "#testing";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { describePostgres } from "../support/postgres.ts";

/** A log of a run of that name. */
function logOf(id: string, length: number): readonly AgentEvent[] {
  return closeRunLog(
    Array.from({ length: length - 1 }, (_, at) => noticeItem("status", { at, text: "é\u2028\0\ud800" })),
    id,
  );
}

const codeOf = (error: unknown): string => (isStoreError(error) ? error.code : String(error));

describePostgres("several nodes on one Postgres", (postgres) => {
  it("nodes that start at once migrate the database once, and a newer one is refused and left as it is", async () => {
    const url = await postgres.createDatabase();
    const nodes = await Promise.all(Array.from({ length: 5 }, () => openStore(url)));
    await Promise.all(nodes.map((node, at) => node.createRun({ id: `run-${at}`, createdAt: at })));
    for (const node of nodes) expect(await node.listRuns()).toHaveLength(5);
    await Promise.all(nodes.map((node) => node.close()));
    expect(await postgres.admin("SELECT number FROM millrace.version", url)).toEqual([{ number: 2 }]);
    await postgres.admin("UPDATE millrace.version SET number = 99, oldest = 98", url);
    await expect(openStore(url)).rejects.toThrow(/version 99; this program knows versions up to 2/);
    expect(await postgres.admin("SELECT number FROM millrace.version", url)).toEqual([{ number: 99 }]);
  });

  it("64 runs written at once through two nodes lose, double and mix no event", async () => {
    const url = await postgres.createDatabase();
    const nodes = await Promise.all([openStore(url), openStore(url)]);
    const ids = Array.from({ length: 64 }, (_, at) => `run-${at}`);
    await Promise.all(
      ids.map(async (id, at) => {
        const node = nodes[at % 2] as Store;
        await node.createRun({ id, createdAt: at, tenant: `t${at % 3}` });
        const events = logOf(id, 40);
        const appends = Array.from({ length: 8 }, (_, part) => node.append(id, events.slice(part * 5, part * 5 + 5)));
        await Promise.all(appends);
      }),
    );
    for (const [at, id] of ids.entries()) expect(await nodes[(at + 1) % 2]?.read(id)).toEqual(logOf(id, 40));
    const counted = await Promise.all(["t0", "t1", "t2"].map(async (tenant) => await nodes[0]?.countBytes?.(tenant)));
    const kept = await postgres.admin(
      "SELECT sum(bytes)::int AS bytes FROM millrace.runs GROUP BY tenant ORDER BY tenant",
      url,
    );
    expect(kept.map(({ bytes }) => bytes)).toEqual(counted);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it("a node whose claim another node has taken can write nothing, whatever it had on its way", async () => {
    const url = await postgres.createDatabase();
    const [stale, fresh] = await Promise.all([openStore(url), openStore(url)]);
    const events = logOf("run-1", 60);
    await stale.createRun({ id: "run-1", createdAt: 1 });
    const old = (await stale.claim?.("run-1", { worker: "stale", at: 1 })) ?? 0;
    const late = events.slice(0, 40).map((event) => stale.append("run-1", [event], undefined, old));
    const epoch = (await fresh.claim?.("run-1", { worker: "fresh", at: 2 })) ?? 0;
    const [run] = await fresh.listRuns();
    const from = (run?.lastSeq ?? -1) + 1;
    await fresh.append("run-1", events.slice(from, 50), undefined, epoch);
    const outcomes = await Promise.allSettled(late);
    const written = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(written).toBe(from);
    for (const outcome of outcomes.slice(written)) {
      expect(codeOf((outcome as PromiseRejectedResult).reason)).toBe("claim-lost");
    }
    expect(await fresh.read("run-1")).toEqual(events.slice(0, 50));
    await Promise.all([stale.close(), fresh.close()]);
  });

  it("a query that names no tenant sees nothing, and one that names a tenant sees its rows only", async () => {
    const url = await postgres.createDatabase();
    const store = await openStore(url);
    for (const tenant of ["a", "b"]) {
      await store.createThread({ id: `thread-${tenant}`, tenant, title: "t", target: "offline", createdAt: 1 });
      const message = { id: "m", role: "user", blocks: [{ type: "text", text: "hi" }] } as const;
      await store.createRun({ id: `run-${tenant}`, tenant, threadId: `thread-${tenant}`, createdAt: 1 }, [message]);
      await store.append(`run-${tenant}`, logOf(`run-${tenant}`, 3).slice(0, 2));
      await store.addAnswer(`run-${tenant}`, { callId: "c", at: 1 });
      await store.addAudit({ at: 1, tenant, action: "x" });
    }
    await store.keepFile("f", new Uint8Array([1]));
    const client = new pg.Client(url);
    await client.connect();
    const tables = await postgres.admin(
      "SELECT relname FROM pg_class WHERE relnamespace = 'millrace'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'version'",
      url,
    );
    expect(tables.length).toBeGreaterThan(12);
    for (const { relname } of tables) {
      const seen = await client.query(`SELECT tenant FROM millrace."${String(relname)}"`);
      expect([relname, seen.rows]).toEqual([relname, []]);
      await client.query("BEGIN; SELECT set_config('millrace.tenant', 'a', true)");
      const own = await client.query<{ tenant: string }>(`SELECT tenant FROM millrace."${String(relname)}"`);
      await client.query("COMMIT");
      expect([relname, own.rows.filter(({ tenant }) => tenant !== "a")]).toEqual([relname, []]);
    }
    await expect(client.query("INSERT INTO millrace.audit (tenant, body) VALUES ('a', '{}')")).rejects.toThrow(
      /row-level/,
    );
    await client.end();
    await store.close();
  });

  it("runs that are written while Postgres is stopped and started anew wait, and lose or double nothing", async () => {
    const url = await postgres.createDatabase();
    const store = await openStore(url);
    const ids = Array.from({ length: 8 }, (_, at) => `run-${at}`);
    for (const id of ids) await store.createRun({ id, createdAt: 1 });
    const write = async (id: string): Promise<void> => {
      for (const event of logOf(id, 60)) await store.append(id, [event]);
    };
    const writing = Promise.all(ids.map(write));
    await store.append("run-none", []).catch(() => undefined);
    await postgres.stop("immediate");
    await postgres.start();
    await writing;
    for (const id of ids) expect(await store.read(id)).toEqual(logOf(id, 60));
    await store.close();
  });

  it("another node is told which run has changed, also after Postgres was started anew", async () => {
    const url = await postgres.createDatabase();
    const [writer, reader] = await Promise.all([openStore(url), openStore(url)]);
    const heard: (string | undefined)[] = [];
    let wake = (): void => undefined;
    const hears = async (runId: string | undefined): Promise<void> => {
      while (!heard.includes(runId)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const stop = reader.watch?.((runId) => {
      heard.push(runId);
      wake();
    });
    await hears(undefined);
    await writer.createRun({ id: "run-1", createdAt: 1 });
    const events = logOf("run-1", 4);
    await writer.append("run-1", events.slice(0, 1));
    // The first hint may come as "anything", while the writer opens its own connection.
    await writer.append("run-1", events.slice(1, 2));
    await hears("run-1");
    heard.length = 0;
    await postgres.stop();
    await postgres.start();
    await hears(undefined);
    stop?.();
    await Promise.all([writer.close(), reader.close()]);
  });

  it("runs that ended long ago are removed with their partition, unfinished ones stay", async () => {
    const url = await postgres.createDatabase();
    const store = await openStore(url);
    for (const id of ["old", "going", "new"]) {
      await store.createRun({ id, createdAt: 1, tenant: "a" });
      await store.append(id, id === "going" ? logOf(id, 3).slice(0, 2) : logOf(id, 3));
    }
    const past = "floor(extract(epoch FROM now()) / 604800)::int - 20";
    await postgres.admin(
      `UPDATE millrace.runs SET ended_at = now() - interval '100 days' WHERE id = 'old';
       DO $$ BEGIN
         EXECUTE format('CREATE TABLE millrace.events_%s PARTITION OF millrace.events FOR VALUES FROM (%s) TO (%s)',
           ${past}, ${past}, ${past} + 1);
         EXECUTE format('ALTER TABLE millrace.events_%s OWNER TO owner', ${past});
       END $$;
       UPDATE millrace.events SET week = ${past} WHERE run_key = (SELECT run_key FROM millrace.runs WHERE id = 'old');
       UPDATE millrace.runs SET week = ${past} WHERE id = 'old';`,
      url,
    );
    const before = (await store.countBytes?.("a")) ?? 0;
    await store.close();
    const again = await openStore(url, { retentionDays: 30 });
    expect((await again.listRuns()).map(({ id }) => id)).toEqual(["going", "new"]);
    expect(await again.read("going")).toHaveLength(2);
    expect((await again.countBytes?.("a")) ?? 0).toBeLessThan(before);
    expect(await postgres.admin(`SELECT to_regclass('millrace.events_' || (${past})) AS name`, url)).toEqual([
      { name: null },
    ]);
    await again.close();
  });

  it.each([
    [
      "a database that does not exist",
      (url: string) => url.replace(/test_\d+/, "missing"),
      /Create it \(createdb missing\)/,
    ],
    [
      "a user that does not exist",
      (url: string) => url.replace("owner@", "nobody:se-cret@"),
      /Check user and password/,
    ],
    ["a server that does not answer", () => "postgres://u:se-cret@127.0.0.1:1/x", /cannot be reached/],
    ["something that is no URL of Postgres", () => "http://u:se-cret@x/", /postgres:\/\/user:password@host/],
  ])("%s is refused with what to do, and without the password", async (_, change, says) => {
    const url = change(await postgres.createDatabase());
    const error: unknown = await openStore(url).then(
      (store) => store.close(),
      (reason: unknown) => reason,
    );
    expect(isStartError(error) && error.message).toMatch(says);
    expect(String(error)).not.toContain("se-cret");
  });

  it("a user without rights is told what to grant", async () => {
    const url = await postgres.createDatabase();
    await postgres.admin("CREATE ROLE stranger LOGIN");
    await expect(openStore(url.replace("owner@", "stranger@"))).rejects.toThrow(/GRANT CREATE ON DATABASE/);
  });
});
