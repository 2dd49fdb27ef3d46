import { LOCAL_TENANT } from "../thread-rules.ts";
import type { SqlDatabase, SqlRow } from "./sql-driver.ts";

/** The bytes of events and messages that each tenant stores. Counted on every write, so that no query is needed. */
export class TenantBytes {
  private readonly _bytes = new Map<string, number>();

  /** The bytes already stored: each thread and each run records its own. */
  constructor(database: SqlDatabase) {
    for (const table of ["threads", "runs"]) {
      const rows = database.prepare(`SELECT tenant, sum(bytes) AS bytes FROM ${table} GROUP BY tenant`).all();
      for (const { tenant, bytes } of rows as readonly SqlRow[]) {
        this.add(typeof tenant === "string" ? tenant : undefined, Number(bytes));
      }
    }
  }

  of(tenant: string): number {
    return this._bytes.get(tenant) ?? 0;
  }

  add(tenant = LOCAL_TENANT, bytes: number): void {
    const sum = this.of(tenant) + bytes;
    if (sum > 0) this._bytes.set(tenant, sum);
    else this._bytes.delete(tenant);
  }
}
