import { describeThrown, type FileSystem } from "#domain";
import { measureJson } from "#wire";
import type { KeptEnd } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** Larger ends are not kept: writing their JSON would block other work for too long. */
const MOST_CHARACTERS = 4_194_304;

/** Given up when the disk is full: room for the end of a few runs. */
const RESERVE_BYTES = 262_144;

const RESERVE = "reserve";

/**
 * The ends of runs that the database did not accept, each in a file of its own, in a folder beside the database: they
 * have to survive although the database cannot be written.
 */
export class KeptEnds {
  private readonly _folder: string;
  private readonly _files: FileSystem;

  constructor(folder: string, files: FileSystem) {
    this._folder = folder;
    this._files = files;
  }

  /** Takes room on the disk in advance. Without it, ends are kept as long as the disk has room for them. */
  async reserve(): Promise<void> {
    const path = `${this._folder}/${RESERVE}`;
    try {
      await this._files.makePrivate(this._folder);
      if (!(await this._files.exists(path))) await this._files.write(path, new Uint8Array(RESERVE_BYTES));
    } catch {
      // The database itself reports a full disk.
    }
  }

  async keep(end: KeptEnd): Promise<void> {
    if (measureJson(end, MOST_CHARACTERS) >= MOST_CHARACTERS) throw failure(end.run.id, "it is too large");
    const bytes = new TextEncoder().encode(JSON.stringify(end));
    const path = this._pathOf(end.run.id);
    try {
      await this._files.write(path, bytes);
    } catch {
      try {
        await this._files.remove(`${this._folder}/${RESERVE}`);
        await this._files.write(path, bytes);
      } catch (error) {
        throw failure(end.run.id, describeThrown(error), error);
      }
    }
  }

  async list(): Promise<readonly KeptEnd[]> {
    const ends: KeptEnd[] = [];
    for (const name of await this._files.list(this._folder)) {
      if (!name.endsWith(".json") || name.startsWith(".")) continue;
      const bytes = await this._readIfThere(`${this._folder}/${name}`);
      try {
        if (bytes !== undefined) ends.push(JSON.parse(new TextDecoder().decode(bytes)) as KeptEnd);
      } catch {
        // Somebody has changed it. The run continues.
      }
    }
    return ends;
  }

  async remove(runId: string): Promise<void> {
    await this._files.remove(this._pathOf(runId));
    await this.reserve();
  }

  /** `undefined` for an end that was stored and removed after the folder was listed. */
  private async _readIfThere(path: string): Promise<Uint8Array | undefined> {
    try {
      return await this._files.read(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** In hexadecimal digits, because some file systems ignore case. */
  private _pathOf(runId: string): string {
    return `${this._folder}/${Buffer.from(runId).toString("hex")}.json`;
  }
}

function failure(runId: string, why: string, cause?: unknown): StoreError {
  return new StoreError("store-failed", `The end of run ${runId} cannot be kept: ${why}.`, { cause });
}
