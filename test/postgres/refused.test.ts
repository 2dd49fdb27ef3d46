import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isStartError } from "#domain";
import { main } from "../../src/cli/main.ts";
import { openQueue as openBullMqQueue } from "../../src/runtime/queues/bullmq.ts";
import { openQueue as openPgBossQueue } from "../../src/runtime/queues/pg-boss.ts";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { describePostgres } from "../support/postgres.ts";
import { describeRedis } from "../support/redis.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder("refused");
const env = { HOME: folder, NO_COLOR: "1", PATH: folder };

async function call(...args: string[]): Promise<{ code: number; text: string }> {
  const io = createMemoryIo({ cwd: folder, env });
  const code = await main(args, io);
  return { code, text: io.stdout() + io.stderr() };
}

/** The library, the server and the check refuse it with the same sentence, and none of them shows the password. */
async function expectRefused(says: RegExp, open: () => Promise<{ close(): Promise<void> }>, flags: readonly string[]) {
  const [thrown, served, looked] = await Promise.all([
    open().then(
      (opened) => opened.close(),
      (error: unknown) => error,
    ),
    call("serve", "--no-config", "--port", "0", ...flags),
    call("doctor", "-b", "offline", ...flags),
  ]);
  expect(isStartError(thrown) && thrown.message).toMatch(says);
  expect(served).toMatchObject({ code: 2, text: expect.stringMatching(says) });
  expect(looked).toMatchObject({ code: 3, text: expect.stringMatching(says) });
  expect(String(thrown) + served.text + looked.text).not.toContain("se-cret");
}

/** Something else than the engine, or nothing that answers. */
async function listenAs(what: "web" | "silence"): Promise<number> {
  const server = what === "web" ? createHttpServer((_, answer) => answer.end("x")) : createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describePostgres(
  "a store that cannot be used is refused by the library, serve and doctor",
  (postgres) => {
    const createTables = async (): Promise<string> => {
      const url = await postgres.createDatabase();
      await (await openStore(url)).close();
      return postgres.overTcp(url);
    };
    const allow = async (...lines: string[]): Promise<void> => {
      const path = join(postgres.folder, "data", "pg_hba.conf");
      writeFileSync(path, `${lines.join("\n")}\n${readFileSync(path, "utf8")}`);
      await postgres.admin("SELECT pg_reload_conf()");
    };
    const refuse = (url: string, says: RegExp) => expectRefused(says, () => openStore(url), ["--store", url]);

    it.each([
      [
        "nobody listens at the port",
        (url: string) => url.replace(/:\d+\//, ":1/"),
        /cannot be reached\. Check that it runs/,
      ],
      [
        "there is no such database",
        (url: string) => url.replace(/test_\d+/, "missing"),
        /Create it \(createdb missing\)/,
      ],
      [
        "there is no such host",
        (url: string) => url.replace("127.0.0.1", "no-host.invalid"),
        /There is no host|cannot be reached/,
      ],
      [
        "the server offers no TLS",
        (url: string) => `${url}?sslmode=verify-full`,
        /does not offer encryption.*ssl = on/,
      ],
    ])("%s", async (_, change, says) => {
      await refuse(change(await createTables()), says);
    });

    it.each(["web", "silence"] as const)("something else answers at the port: %s", async (what) => {
      await refuse(
        `postgres://u:se-cret@127.0.0.1:${await listenAs(what)}/x`,
        /cannot be reached\. Check that it runs/,
      );
    });

    it("the password is wrong", async () => {
      await postgres.admin("CREATE ROLE guarded LOGIN PASSWORD 'right'");
      await allow("host all guarded 127.0.0.1/32 scram-sha-256");
      const url = (await createTables()).replace("owner@", "guarded:se-cret@");
      await refuse(url, /does not let the user guarded in\. Check user and password/);
    });

    it("the server takes encrypted connections only", async () => {
      await postgres.admin("CREATE ROLE encrypted LOGIN");
      await allow("hostssl all encrypted 127.0.0.1/32 trust", "host all encrypted 127.0.0.1/32 reject");
      const url = (await createTables()).replace("owner@", "encrypted@");
      // Postgres says of both lines that there is no encryption.
      await refuse(url, /does not let the user encrypted in without encryption\. Add \?sslmode=verify-full/);
    });

    it("the user may only read, or nothing at all", async () => {
      await postgres.admin("CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN");
      const url = await createTables();
      await postgres.admin(
        "GRANT USAGE ON SCHEMA millrace TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA millrace TO reader",
        adminUrl(url),
      );
      await refuse(url.replace("owner@", "reader@"), /reader may not write all tables.*GRANT owner TO reader/);
      await refuse(url.replace("owner@", "stranger@"), /stranger may not write all tables.*GRANT owner TO stranger/);
      const empty = postgres.overTcp(await postgres.createDatabase());
      await refuse(empty.replace("owner@", "reader@"), /GRANT CREATE ON DATABASE test_\d+ TO reader/);
    });

    it("the database takes no writes", async () => {
      const url = await createTables();
      await postgres.admin(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
      await refuse(url, /takes no writes from the user owner: default_transaction_read_only is on/);
    });

    it("the database has another encoding", async () => {
      await postgres.admin(
        "CREATE DATABASE narrow OWNER owner TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
      );
      const url = (await createTables()).replace(/test_\d+/, "narrow");
      await refuse(url, /has the encoding LATIN1.*createdb --encoding=UTF8/);
    });

    it("a newer program has written it", async () => {
      const url = await createTables();
      await postgres.admin("UPDATE millrace.version SET number = 99, oldest = 98", adminUrl(url));
      await refuse(
        url,
        /version 99; this program knows versions up to \d+\. Use the program that wrote it, or a newer/,
      );
    });

    it("the queue in it is that of a newer pg-boss, or of another user", async () => {
      const url = await createTables();
      await (await openPgBossQueue(url)).close();
      const flags = ["--store", url, "--queue", "pg-boss"];
      await postgres.admin("UPDATE millrace_queue.version SET version = 99", adminUrl(url));
      await expectRefused(/tables of the queue have version 99/, () => openPgBossQueue(url), flags);
      await postgres.admin(
        "CREATE ROLE other LOGIN; GRANT owner TO other; ALTER SCHEMA millrace_queue OWNER TO admin",
        adminUrl(url),
      );
      await postgres.admin("REVOKE ALL ON SCHEMA millrace_queue FROM owner", adminUrl(url));
      await expectRefused(/user owner (does not own the schema|may not do this)/, () => openPgBossQueue(url), flags);
    });

    it("doctor says what is unwise and still returns 0, and changes nothing", async () => {
      const url = await createTables();
      const asAdmin = await call("doctor", "-b", "offline", "--store", adminUrl(url));
      expect(asAdmin).toMatchObject({ code: 0 });
      expect(asAdmin.text).toMatch(/! The user admin is a superuser or has BYPASSRLS/);
      expect(asAdmin.text).toMatch(/! fsync is off/);
      const name = new URL(url).pathname.slice(1);
      await postgres.admin(`ALTER DATABASE ${name} SET synchronous_commit = off`);
      const { text, code } = await call("doctor", "-b", "offline", "--store", url);
      expect([code, /! synchronous_commit is off/.test(text), text.includes("superuser")]).toEqual([0, true, false]);
      const empty = postgres.overTcp(await postgres.createDatabase());
      const first = await call("doctor", "-b", "offline", "--store", empty, "--queue", "pg-boss");
      expect(first).toMatchObject({ code: 0, text: expect.stringMatching(/first server creates its tables/) });
      const schemas = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'millrace%'";
      expect(await postgres.admin(schemas, adminUrl(empty))).toEqual([]);
    });

    it("doctor names runs without a worker, nodes of other versions, and a clock that is wrong", async () => {
      const url = await createTables();
      const store = await openStore(url);
      onTestFinished(() => store.close());
      await store.createThread({ id: "t", tenant: "a", title: "", target: "clerk", createdAt: 1 });
      const message = { id: "m", role: "user", blocks: [{ type: "text", text: "go" }] } as const;
      await store.createRun({ id: "r", tenant: "a", threadId: "t", createdAt: 1 }, [message]);
      const flags = ["doctor", "-b", "offline", "--store", url, "--queue", "pg-boss"];
      const alone = await call(...flags);
      expect(alone).toMatchObject({ code: 0, text: expect.stringMatching(/No node is running/) });
      expect(alone.text).toMatch(/! 1 run of clerk cannot be worked on.*millrace serve --worker-only --backend clerk/);

      let beat = 0;
      const tell = () =>
        store.noteNode?.("n", { name: "back-1", version: "0.0.1", beat: (beat += 1), worksOn: ["clerk"] });
      await tell();
      const io = createMemoryIo({ cwd: folder, env });
      // The machine is an hour ahead, and what doctor waits for is a beat of the node.
      const clock = {
        now: () => Date.now() + 3_600_000,
        after: (_: number, fire: () => void) => {
          Promise.resolve(tell()).then(fire, fire);
          return () => undefined;
        },
      };
      expect(await main(flags, { ...io, world: { ...io.world, clock } })).toBe(0);
      expect(io.stdout()).toMatch(/✓ Running nodes: back-1 \(0\.0\.1\)/);
      expect(io.stdout()).toMatch(/! 1 of 1 nodes have another version/);
      expect(io.stdout()).toMatch(/! The clock of this machine is 3600 s ahead/);
      expect(io.stdout()).not.toMatch(/run of clerk/);
    });

    const adminUrl = (url: string): string => url.replace("//owner@", "//admin@");
  },
  { listens: true },
);

describeRedis("a queue that cannot be used is refused by the library, serve and doctor", (redis) => {
  const refuse = async (url: string, says: RegExp): Promise<void> => {
    const looked = await call("doctor", "-b", "offline", "--queue", url);
    expect(looked).toMatchObject({ code: 3, text: expect.stringMatching(says) });
    const error: unknown = await openBullMqQueue(url).then(
      (queue) => queue.close(),
      (reason: unknown) => reason,
    );
    expect(isStartError(error) && error.message).toMatch(says);
    expect(looked.text + String(error)).not.toContain("se-cret");
  };

  it("nobody, or something else, answers", async () => {
    await Promise.all([
      refuse("redis://u:se-cret@127.0.0.1:1", /cannot be reached\. Check that it runs/),
      refuse(`redis://u:se-cret@127.0.0.1:${await listenAs("web")}`, /is not Redis/),
      refuse(`redis://u:se-cret@127.0.0.1:${await listenAs("silence")}`, /cannot be reached\. Check that it runs/),
    ]);
    const looked = await call("doctor", "-b", "offline", "--queue", "amqp://u:se-cret@x");
    expect(looked).toMatchObject({ code: 3, text: expect.stringMatching(/must be pg-boss or an address that begins/) });
    expect(looked.text).not.toContain("se-cret");
  });

  it("the password is wrong or missing, and doctor names what Redis would lose", async () => {
    await redis.stop();
    await redis.start("--requirepass", "right", "--maxmemory-policy", "allkeys-lru", "--appendonly", "no");
    await refuse(redis.url, /does not let this user in/);
    await refuse(redis.url.replace("//", "//:se-cret@"), /does not let this user in/);
    const url = redis.url.replace("//", "//:right@");
    const evicting = await call("doctor", "-b", "offline", "--queue", url);
    expect(evicting).toMatchObject({
      code: 3,
      text: expect.stringMatching(/allkeys-lru.*maxmemory-policy noeviction/),
    });
    await redis.stop();
    await redis.start("--requirepass", "right", "--appendonly", "no");
    const queue = await openBullMqQueue(url);
    await queue.add({ runId: "run-1" });
    const { code, text } = await call("doctor", "-b", "offline", "--queue", url);
    await queue.close();
    expect(code).toBe(0);
    expect(text).toMatch(/✓ Redis \d+.* 1 jobs are waiting/);
    expect(text).toMatch(/! Redis does not log what it stores/);
    expect(text).toMatch(/! Jobs are waiting, and nobody works on any/);
    await redis.stop();
    await redis.start();
  });
});
