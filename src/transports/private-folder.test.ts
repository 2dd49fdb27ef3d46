import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { createProcessFolder, makePrivate } from "./private-folder.ts";

const root = temporaryFolder("private");
const modeOf = (path: string): number => statSync(path).mode & 0o777;
let folders = 0;
const fresh = (): string => join(root, `f${(folders += 1)}`);

describe.skipIf(process.platform === "win32")("F-A10 SEC19: a folder that is private to its owner", () => {
  it("is created with mode 0700, including its parents", async () => {
    const path = join(fresh(), "a", "b");
    await makePrivate(path);
    expect(modeOf(path)).toBe(0o700);
    expect(modeOf(join(path, ".."))).toBe(0o700);
  });

  it.each([0o777, 0o775, 0o755, 0o750, 0o701, 0o700])(
    "an existing one of mode %o has 0700 afterwards",
    async (mode) => {
      const path = fresh();
      mkdirSync(path);
      chmodSync(path, mode);
      await makePrivate(path);
      expect(modeOf(path)).toBe(0o700);
    },
  );

  it("a shared folder is rejected and not changed", async () => {
    const path = fresh();
    mkdirSync(path);
    chmodSync(path, 0o1777);
    await expect(makePrivate(path)).rejects.toThrow(`Use a separate folder, such as ${path}/millrace`);
    expect(modeOf(path)).toBe(0o777);
  });

  it("our own link leads to the folder, whose mode is restricted", async () => {
    const path = fresh();
    mkdirSync(path);
    chmodSync(path, 0o777);
    const link = fresh();
    symlinkSync(path, link);
    await makePrivate(link);
    expect(modeOf(path)).toBe(0o700);
  });

  it.skipIf(process.getuid?.() !== 0)("a link of another user is not followed", async () => {
    const { lchownSync } = await import("node:fs");
    const path = fresh();
    mkdirSync(path);
    chmodSync(path, 0o777);
    const link = fresh();
    symlinkSync(path, link);
    lchownSync(link, 12345, 12345);
    await expect(makePrivate(link)).rejects.toThrow(/link that another user has made/);
    expect(modeOf(path)).toBe(0o777);
  });

  it("a process has one for its private files, with an unpredictable name", async () => {
    const folder = createProcessFolder();
    const path = await folder();
    expect(await folder()).toBe(path);
    expect(modeOf(path)).toBe(0o700);
    expect(await createProcessFolder()()).not.toBe(path);
    expect(existsSync(path)).toBe(true);
  });
});
