/**
 * A store in one SQLite file: an event is written to disk before it is shown.
 *
 * @module
 */
import { resolve } from "node:path";
import { checkInput, expects } from "#domain";
import type { Store } from "#sessions";
import { createSystemFiles, startWorker, systemClock } from "#transports";
import { opened } from "./opened.ts";
import { openSqliteStore } from "../../sessions/stores/sqlite/sqlite-store.ts";

export type { Store, StoreErrorCode } from "#sessions";
export { isStoreError, StoreError } from "#sessions";

/**
 * Opens the store in a local folder: one SQLite database, created if missing (folder 0700, files 0600).
 *
 * A relative path is relative to the working folder of the process. A write is acknowledged after it has been synced to
 * disk. Only one program at a time may have the store open.
 * Requires Node 22.13 or later, or the package `libsql`. Rejects with a `StartError` that says what to do if the folder
 * cannot be used.
 *
 * @example
 * const store = await openStore("/var/lib/millrace")
 */
export async function openStore(folder: string): Promise<Store> {
  checkInput(
    expects((value) => typeof value === "string" && value !== "", "the path of a folder"),
    folder,
    "folder",
  );
  return await opened(
    openSqliteStore({
      folder: resolve(folder),
      clock: systemClock,
      files: createSystemFiles(),
      startWorker,
      onWorkerLost: () => {
        process.emitWarning(
          `A worker of the database in ${folder} has died. Nothing is lost, but requests now wait for the disk; start the program anew.`,
          "MillraceWarning",
        );
      },
    }),
  );
}
