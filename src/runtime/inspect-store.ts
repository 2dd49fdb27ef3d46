import { describeThrown } from "#domain";
import { loadSqlDriver } from "../sessions/stores/sqlite/sql-driver.ts";

/** Whether runs can be stored on this machine, and with which driver. */
export interface StoreState {
  readonly isReady: boolean;
  readonly says: string;
}

/** Loads the driver that the SQLite store would use: only loading shows whether a binding works. */
export async function inspectStore(load: typeof loadSqlDriver = loadSqlDriver): Promise<StoreState> {
  try {
    const { name } = await load();
    return { isReady: true, says: `Runs can be kept in SQLite (${name}).` };
  } catch (error) {
    return { isReady: false, says: `Runs can be kept in memory only. ${describeThrown(error)}` };
  }
}
