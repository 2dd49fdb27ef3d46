import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { type ExecutableState, type LocateRequest, locateClaude } from "./locate.ts";

const locate = async (places: Readonly<Record<string, ExecutableState>>, more: Partial<LocateRequest> = {}) => {
  const looked: string[] = [];
  const found = await locateClaude({
    env: { PATH: "/usr/bin:/opt/claude/bin" },
    cwd: "/work",
    platform: "linux",
    probe: async (path) => {
      looked.push(path);
      return places[path] ?? "missing";
    },
    ...more,
  }).catch((error: unknown) => (isStartError(error) ? [error.code, error.message] : error));
  return { found, looked };
};

describe("locating the CLI", () => {
  it("S1-28: searches PATH once, in order", async () => {
    const { found, looked } = await locate({ "/opt/claude/bin/claude": "executable" });
    expect(found).toBe("/opt/claude/bin/claude");
    expect(looked).toEqual(["/usr/bin/claude", "/opt/claude/bin/claude"]);
  });

  it("AT-38 S0-28 S1-129: reports what was searched for, where, and how to install it", async () => {
    expect((await locate({})).found).toEqual([
      "cli-not-found",
      'The Claude Code CLI was not found: no "claude" in PATH (/usr/bin, /opt/claude/bin). ' +
        "Install it with npm install -g @anthropic-ai/claude-code, or set executable to its path.",
    ]);
    expect((await locate({}, { env: {} })).found).toEqual([
      "cli-not-found",
      expect.stringContaining("names no folder"),
    ]);
  });

  it("AT-38: distinguishes a program that is not executable from a missing one", async () => {
    expect((await locate({ "/usr/bin/claude": "not-executable" })).found).toEqual([
      "spawn",
      expect.stringContaining("/usr/bin/claude exists but is not executable"),
    ]);
    const both = { "/usr/bin/claude": "not-executable", "/opt/claude/bin/claude": "executable" } as const;
    expect((await locate(both)).found).toBe("/opt/claude/bin/claude");
    expect((await locate({ "/x/claude": "not-executable" }, { executable: "/x/claude" })).found).toEqual([
      "spawn",
      expect.stringContaining("is not executable"),
    ]);
    expect((await locate({ "/x": "folder" }, { executable: "/x" })).found).toEqual([
      "spawn",
      expect.stringContaining("is a folder"),
    ]);
    expect((await locate({}, { executable: "/x/claude" })).found).toEqual([
      "cli-not-found",
      expect.stringContaining("/x/claude"),
    ]);
  });

  it("uses a path as given, a relative one from the working folder", async () => {
    const places = { "/work/bin/claude": "executable", "/usr/bin/my-claude": "executable" } as const;
    expect((await locate(places, { executable: "./bin/claude" })).found).toBe("/work/bin/claude");
    expect((await locate(places, { executable: "my-claude" })).found).toBe("/usr/bin/my-claude");
  });

  it("SEC4: skips entries of PATH that depend on the working folder", async () => {
    const { looked } = await locate({}, { env: { PATH: ":.:node_modules/.bin:/usr/bin::/usr/bin" } });
    expect(looked).toEqual(["/usr/bin/claude"]);
  });

  it("F-A14: on Windows tries the extensions of PATHEXT in each folder of Path, whatever the case of the variables", async () => {
    const windows = { platform: "win32", cwd: "C:\\work" };
    const env = { path: "C:\\npm;D:\\bin;relative", PathExt: ".JS;.CMD;.EXE" };
    const { looked } = await locate({}, { ...windows, env });
    expect(looked).toEqual([
      "C:\\npm\\claude.cmd",
      "C:\\npm\\claude.exe",
      "D:\\bin\\claude.cmd",
      "D:\\bin\\claude.exe",
    ]);
    const { found, looked: usual } = await locate(
      { "C:\\npm\\claude.cmd": "executable" },
      { ...windows, env: { PATH: "C:\\npm" } },
    );
    expect(found).toBe("C:\\npm\\claude.cmd");
    expect(usual.map((path) => path.slice(-4))).toEqual([".com", ".exe", ".bat", ".cmd"]);
  });

  it("F-A14: on Windows uses a name with an extension, and a path with either slash, as given", async () => {
    const windows = { platform: "win32", cwd: "C:\\work", env: { Path: "C:\\npm" } };
    const places = { "C:\\npm\\claude.exe": "executable", "C:\\work\\bin\\claude.cmd": "executable" } as const;
    expect((await locate(places, { ...windows, executable: "claude.exe" })).found).toBe("C:\\npm\\claude.exe");
    for (const executable of ["bin\\claude.cmd", "./bin/claude.cmd"]) {
      expect((await locate(places, { ...windows, executable })).found).toBe("C:\\work\\bin\\claude.cmd");
    }
  });
});
