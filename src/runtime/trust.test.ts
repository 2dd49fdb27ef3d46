import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "#testing";
import { createSystemFiles } from "#transports";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { openTrustList, ownConfigFolder } from "./trust.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("F-A1: where a user's own settings are", () => {
  it.each<[string, Record<string, string>, string, string | undefined]>([
    ["XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "/x", HOME: "/home/ada" }, "linux", "/x/millrace"],
    ["the home folder", { HOME: "/home/ada" }, "darwin", "/home/ada/.config/millrace"],
    ["a relative XDG_CONFIG_HOME is none", { XDG_CONFIG_HOME: ".", HOME: "/h" }, "linux", "/h/.config/millrace"],
    ["an empty one neither", { XDG_CONFIG_HOME: "", HOME: "/h" }, "linux", "/h/.config/millrace"],
    ["nowhere", {}, "linux", undefined],
    ["nor in a home that depends on where we stand", { HOME: "." }, "linux", undefined],
    ["APPDATA on Windows", { APPDATA: "/c/Users/ada/AppData", HOME: "/h" }, "win32", "/c/Users/ada/AppData/millrace"],
  ])("%s", (_, env, platform, folder) => {
    expect(ownConfigFolder(env, platform)).toBe(folder);
  });
});

describe("F-A1: what a user trusts", () => {
  it("is a file by its path and its bytes: no other file, and not the same one after a change", async () => {
    const book = openTrustList("/own", createMemoryFiles());
    expect(await book.judge("/p/a.json", encode("a"))).toBe("unknown");
    const { sha256 } = await book.add("/p/a.json", encode("a"));
    expect(await book.list()).toEqual([{ file: "/p/a.json", sha256 }]);
    expect(await book.judge("/p/a.json", encode("a"))).toBe("trusted");
    expect(await book.judge("/p/a.json", encode("b"))).toBe("changed");
    expect(await book.judge("/q/a.json", encode("a"))).toBe("unknown");
    await book.add("/p/a.json", encode("b"));
    expect(await book.judge("/p/a.json", encode("b"))).toBe("trusted");
    expect([await book.remove("/p/a.json"), await book.remove("/p/a.json")]).toEqual([true, false]);
    expect(await book.judge("/p/a.json", encode("b"))).toBe("unknown");
  });

  it.each(["", "{", "[]", '"x"', "null", '{"trusted": 1}'])(
    "has no effect if its list is %j, which is reported",
    async (text) => {
      const files = createMemoryFiles();
      await files.write("/own/trust.json", encode(text));
      const book = openTrustList("/own", files);
      await expect(book.judge("/p/a.json", encode("a"))).rejects.toThrow(/^\/own\/trust\.json is not the list/);
    },
  );

  it("an inherited property name is an ordinary path", async () => {
    const book = openTrustList("/own", createMemoryFiles());
    expect(await book.judge("__proto__", encode("a"))).toBe("unknown");
    expect(await book.judge("constructor", encode("a"))).toBe("unknown");
  });

  describe("on the disk", () => {
    const folder = temporaryFolder("trust");

    it("is private to the user, and written in one step", async () => {
      chmodSync(folder, 0o755);
      const own = join(folder, "config", "millrace");
      const book = openTrustList(own, createSystemFiles());
      await book.add("/p/a.json", encode("a"));
      expect(statSync(own).mode & 0o777).toBe(0o700);
      expect(statSync(book.path).mode & 0o777).toBe(0o600);
      expect(readdirSync(own)).toEqual(["trust.json"]);
    });
  });
});
