import type * as Pg from "pg";
import { describeThrown } from "#domain";
import { StoreError } from "../store-error.ts";

/** The driver, as far as the store uses it. */
export type PostgresDriver = Pick<typeof Pg, "Client" | "Pool" | "escapeIdentifier">;

/**
 * Loads the optional package `pg`.
 *
 * @throws StoreError `store-failed` saying what to install.
 */
export async function loadDriver(load: () => Promise<unknown> = () => import("pg")): Promise<PostgresDriver> {
  try {
    const { default: pg } = (await load()) as { readonly default: PostgresDriver };
    return pg;
  } catch (error) {
    const why = describeThrown(error).split("\n", 1)[0] ?? "";
    throw new StoreError("store-failed", `The Postgres store needs the package pg: npm install pg@8 (${why}).`, {
      cause: error,
    });
  }
}
