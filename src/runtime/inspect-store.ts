import { describeThrown } from "#domain";
import type { Finding } from "#sessions";
import { type FolderLook, lookAtFolder } from "#transports";
import { STEPS } from "../sessions/stores/sqlite/migrations.ts";
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

const NAME = "store folder";

/** Where SQLite writes the version of the tables, in the first bytes of a database. */
const VERSION_AT = 60;
const HEAD = 100;
const MAGIC = "SQLite format 3\0";

/** Below this, a warning. */
const FREE = 1_073_741_824;

/** Says what would keep a server from using this data folder. Only looks: opening the database would change it. */
export async function inspectFolder(
  folder: string,
  look: (folder: string) => Promise<FolderLook> = (path) => lookAtFolder(path, "millrace.sqlite", HEAD),
): Promise<readonly Finding[]> {
  const { isReady, says } = await inspectStore();
  if (!isReady) return [{ name: NAME, isReady, says }];
  try {
    return judge(folder, await look(folder));
  } catch (error) {
    return [
      { name: NAME, isReady: false, says: `The data folder ${folder} cannot be used: ${describeThrown(error)}.` },
    ];
  }
}

function judge(folder: string, { exists, isWritable, isOwn, free, head }: FolderLook): readonly Finding[] {
  const wrong = (says: string): readonly Finding[] => [{ name: NAME, isReady: false, says }];
  if (!exists)
    return [{ name: NAME, isReady: true, says: `There is no folder ${folder} yet; millrace serve creates it.` }];
  if (!isOwn)
    return wrong(`The data folder ${folder} belongs to another user. Run as that user, or give another folder.`);
  if (!isWritable)
    return wrong(`The data folder ${folder} cannot be written. Correct its rights (chmod -R u+rwX ${folder}).`);
  if (head === undefined || head.length === 0) {
    return [{ name: NAME, isReady: true, says: `There is no database in ${folder} yet; millrace serve creates it.` }];
  }
  if (head.length < HEAD || new TextDecoder().decode(head.subarray(0, MAGIC.length)) !== MAGIC) {
    return wrong(
      `${folder}/millrace.sqlite is not a database of SQLite. Restore it from a backup, or give another folder.`,
    );
  }
  const version = new DataView(head.buffer, head.byteOffset).getUint32(VERSION_AT);
  if (version > STEPS.length) {
    return wrong(
      `The database in ${folder} has version ${version}; this program knows versions up to ${STEPS.length}. Use the program that wrote it, or a newer one.`,
    );
  }
  const later = version < STEPS.length ? `; the next server brings it to version ${STEPS.length}` : "";
  const found: Finding[] = [
    {
      name: NAME,
      isReady: true,
      says: `The database in ${folder} can be used. Its tables have version ${version}${later}.`,
    },
  ];
  if (free < FREE) {
    const megabytes = Math.floor(free / 1_048_576);
    const says = `Only ${megabytes} MB are free on the disk of ${folder}. Runs that cannot be stored are ended: make room.`;
    found.push({ name: NAME, isReady: true, isWarning: true, says });
  }
  return found;
}
