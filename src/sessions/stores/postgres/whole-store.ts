import { isId } from "#domain";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { foldCase, requireWholeThread } from "../thread-rules.ts";
import { type Bodies, plain } from "./bodies.ts";
import { ALL_TENANTS, type Database } from "./database.ts";

interface WholeStoreParts {
  readonly database: Database;
  readonly bodies: Bodies;
  requireOpen(): void;
}

type WholeStoreCalls = Required<Pick<Store, "listTenants" | "listFiles" | "restoreThread" | "replaceAudit">>;

const SAFE = { isSafe: true } as const;
const PATIENT = { isSafe: true, patience: "run" } as const;

/** The calls with which a store is copied. */
export function wholeStoreCalls({ database, bodies, requireOpen }: WholeStoreParts): WholeStoreCalls {
  return {
    async listTenants() {
      requireOpen();
      const rows = await database.callAs<{ tenant: string }>(
        ALL_TENANTS,
        `SELECT tenant COLLATE "C" AS tenant FROM (SELECT tenant FROM @.threads UNION SELECT tenant FROM @.runs
          UNION SELECT tenant FROM @.audit) AS named ORDER BY 1`,
        [],
        SAFE,
      );
      return rows.map(({ tenant }) => tenant);
    },
    async listFiles() {
      requireOpen();
      const rows = await database.callAs<{ name: string }>(
        ALL_TENANTS,
        "SELECT name FROM @.files ORDER BY name",
        [],
        SAFE,
      );
      return rows.map(({ name }) => name);
    },
    async restoreThread(thread) {
      requireOpen();
      requireWholeThread(thread);
      const { id, tenant, title, target, createdAt, updatedAt, usage } = thread;
      const wrong = { code: "invalid-thread", what: `A message of thread ${id}` } as const;
      const messages = await Promise.all(thread.messages.map((message) => bodies.message(message, wrong)));
      const bytes = messages.reduce((sum, [body]) => sum + Buffer.byteLength(body), 0);
      await database.transactAs(
        tenant,
        async (call) => {
          const columns = [
            id,
            tenant,
            JSON.stringify(title),
            JSON.stringify(target),
            plain(foldCase(title)),
            createdAt,
            updatedAt,
          ];
          await call(
            `INSERT INTO @.threads (id, tenant, title, target, search, created_at, updated_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
            columns,
          );
          // What another tenant has cannot be seen here.
          const before = await call<{ bytes: string }>(
            "SELECT bytes FROM @.threads WHERE id = $1 AND tenant = $2 FOR UPDATE",
            [id, tenant],
          );
          if (before.length === 0) throw new StoreError("thread-exists", `Thread ${id} already exists.`);
          await call(
            `UPDATE @.threads SET title = $3, target = $4, search = $5, created_at = $6, updated_at = $7, bytes = 0
              WHERE id = $1 AND tenant = $2`,
            columns,
          );
          await call("DELETE FROM @.messages WHERE thread_id = $1", [id]);
          await call("DELETE FROM @.usage WHERE thread_id = $1", [id]);
          await call("SELECT @.add_messages($1, $2, $3, $4, $5)", [
            id,
            tenant,
            updatedAt,
            bytes,
            JSON.stringify(messages),
          ]);
          await call(
            `INSERT INTO @.usage (thread_id, model, tenant, body)
              SELECT $1, line.model, $2, line.body FROM unnest($3::text[], $4::text[]) AS line (model, body)`,
            [id, tenant, usage.map(({ model }) => JSON.stringify(model)), usage.map((line) => JSON.stringify(line))],
          );
          await call("SELECT @.grow_tenant($1, $2)", [tenant, bytes - Number(before[0]?.bytes)]);
        },
        PATIENT,
      );
    },
    async replaceAudit(tenant, entries) {
      requireOpen();
      await database.transactAs(
        isId(tenant) ? tenant : ALL_TENANTS,
        async (call) => {
          await call("DELETE FROM @.audit WHERE tenant = $1", [tenant]);
          await call(
            `INSERT INTO @.audit (tenant, body) SELECT $1, entry.body
              FROM unnest($2::text[]) WITH ORDINALITY AS entry (body, number) ORDER BY entry.number`,
            [tenant, entries.map((entry) => JSON.stringify(entry))],
          );
        },
        PATIENT,
      );
    },
  };
}
