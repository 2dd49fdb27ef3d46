import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, TestRunner } from "vitest";

/**
 * A new, empty folder. Made inside a test (or its `beforeEach`), it is removed when that test is over; made while the tests are
 * collected, when the file or the `describe` block is over. Hooks run in reverse order: whatever uses the folder is closed by a
 * hook that was registered later. A folder that is made in `beforeAll` or in an `it.concurrent` needs `makeFolder`.
 */
export function temporaryFolder(name: string): string {
  const folder = makeFolder(name);
  const remove = () => removeFolder(folder);
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return folder;
}

/** A new, empty folder; the caller removes it. */
export function makeFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `millrace-${name}-`)));
}

/**
 * Removes a folder or a file, if it is there. A process that is just ending may still write to the folder: `rmdir` then fails with
 * ENOTEMPTY, which is why it is tried again for some seconds.
 */
export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** The same at once, for where time is virtual (a real wait would let it run away) and for the end of a process. */
export function removeFolderNow(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
