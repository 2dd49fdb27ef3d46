import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isId } from "#domain";
import { checkFiles } from "#testing";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { systemClock } from "./system-clock.ts";
import { createSystemFiles } from "./system-files.ts";
import { systemRandom } from "./system-random.ts";

describe("systemClock", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("gives the time of the machine and fires once after the given time", () => {
    vi.useFakeTimers({ now: 5000 });
    const fire = vi.fn();
    systemClock.after(100, fire);
    vi.advanceTimersByTime(99);
    expect(fire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(fire).toHaveBeenCalledOnce();
    expect(systemClock.now()).toBe(6099);
  });

  it("does not fire a cancelled timer, however often it is cancelled", () => {
    vi.useFakeTimers();
    const fire = vi.fn();
    const takeBack = systemClock.after(100, fire);
    takeBack();
    takeBack();
    vi.advanceTimersByTime(1000);
    expect(fire).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits longer than the system's longest timer, and forever", () => {
    vi.useFakeTimers();
    const fire = vi.fn();
    const sixtyDays = 60 * 24 * 3_600_000;
    systemClock.after(sixtyDays, fire);
    systemClock.after(Number.POSITIVE_INFINITY, fire)();
    vi.advanceTimersByTime(sixtyDays - 1);
    expect(fire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledOnce();
  });
});

describe("systemRandom", () => {
  it("gives numbers from 0 on below 1, and ids that are new and opaque", () => {
    const ids = Array.from({ length: 1000 }, () => systemRandom.id());
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every((id) => isId(id) && /^[A-Za-z0-9]/.test(id))).toBe(true);
    const next = systemRandom.next();
    expect(next >= 0 && next < 1).toBe(true);
  });
});

describe("createSystemFiles", () => {
  const root = temporaryFolder("files");
  let places = 0;
  const files = createSystemFiles();
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

  it("fulfils the contract of the seam", async () => {
    expect(await checkFiles(() => ({ files, root: join(root, `place-${(places += 1)}`) }))).toEqual([]);
  });

  it("SEC19: makes files 0600 and folders 0700, whatever was there before", async () => {
    await files.write(join(root, "modes/file"), encode("x"));
    await files.append(join(root, "modes/log/lines"), encode("x"));
    await chmod(join(root, "modes/file"), 0o644);
    await files.write(join(root, "modes/file"), encode("y"));
    const modes = await Promise.all(
      ["modes", "modes/file", "modes/log", "modes/log/lines"].map(
        async (path) => (await stat(join(root, path))).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o700, 0o600, 0o700, 0o600]);
  });

  it("SEC19: replaces a link instead of writing through it, and does not append through one", async () => {
    const elsewhere = join(root, "elsewhere");
    await writeFile(elsewhere, "mine");
    await symlink(elsewhere, join(root, "link"));
    await expect(files.append(join(root, "link"), encode("x"))).rejects.toThrow("ELOOP");
    await files.write(join(root, "link"), encode("new"));
    expect(await readFile(elsewhere, "utf8")).toBe("mine");
    expect(await readFile(join(root, "link"), "utf8")).toBe("new");
  });

  it.skipIf(!existsSync("/proc/self"))("F-A1: fails if folders exist in which none can be created", async () => {
    const path = "/proc/nobody/.config/millrace/trust.json";
    await expect(files.write(path, new Uint8Array())).rejects.toThrow(/ENOENT/);
    await expect(files.append(path, new Uint8Array())).rejects.toThrow(/ENOENT/);
    await expect(files.makePrivate(dirname(path))).rejects.toThrow(/ENOENT/);
  });

  it.skipIf(process.platform === "win32")("F-A1: rejects a pipe or a device, which may never end", async () => {
    const pipe = join(root, "pipe");
    spawnSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero"]) await expect(files.read(path)).rejects.toThrow(/is a pipe or a device/);
    await expect(files.read(root)).rejects.toMatchObject({ code: "EISDIR" });
  });

  it("leaves the old file and no draft if a write fails", async () => {
    const folder = join(root, "failing");
    const random = { next: () => 0, id: () => "fixed" };
    await files.write(join(folder, "file"), encode("old"));
    // Another file where the draft would go: it is neither written to nor removed.
    await writeFile(join(folder, ".file.fixed.draft"), "theirs");
    await expect(createSystemFiles(random).write(join(folder, "file"), encode("new"))).rejects.toThrow("EEXIST");
    expect(await readFile(join(folder, "file"), "utf8")).toBe("old");
    expect(await readFile(join(folder, ".file.fixed.draft"), "utf8")).toBe("theirs");

    await expect(files.write(join(root, "failing"), encode("new"))).rejects.toThrow();
    expect((await readdir(root)).filter((name) => name.endsWith(".draft"))).toEqual([]);
  });

  it("never shows half a file to a reader", async () => {
    const path = join(root, "replaced");
    const versions = Array.from({ length: 20 }, (_, at) => String(at % 10).repeat(100_000));
    await files.write(path, encode(versions[0] as string));
    const seen = await Promise.all(
      versions.flatMap((version) => [files.write(path, encode(version)).then(() => ""), readFile(path, "utf8")]),
    );
    expect(seen.every((text) => text === "" || versions.includes(text))).toBe(true);
  });
});
