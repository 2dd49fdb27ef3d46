import { describeThrown } from "#domain";
import { loadSqlDriver } from "../sessions/stores/sqlite/sql-driver.ts";

/** Whether runs can be kept on this machine, and by what. */
export interface StoreState {
  readonly isReady: boolean;
  readonly says: string;
}

/** Loads the driver that the SQLite store would take: whether a binding works shows only then. */
export async function inspectStore(load: typeof loadSqlDriver = loadSqlDriver): Promise<StoreState> {
  try {
    const { name } = await load();
    return { isReady: true, says: `Runs can be kept in SQLite (${name}).` };
  } catch (error) {
    return { isReady: false, says: `Runs can be kept in memory only. ${describeThrown(error)}` };
  }
}
