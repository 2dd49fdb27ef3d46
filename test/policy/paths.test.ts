import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPolicy, type PathLookup, type PermissionRules } from "#policy";
import { createVirtualClock } from "#testing";
import { createSystemFiles } from "#transports";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

// Real files and real links: what is asked here is where the system leads.

const top = temporaryFolder("paths");
const cwd = join(top, "work");
const home = join(top, "home");

beforeAll(() => {
  for (const folder of ["work/src", "work/private/deep", "work/docs", "outside/sub", "home/.ssh"]) {
    mkdirSync(join(top, folder), { recursive: true });
  }
  for (const file of ["work/src/a.ts", "work/private/key", "work/private/deep/key", "outside/secret", "home/.ssh/id"]) {
    writeFileSync(join(top, file), "x");
  }
  symlinkSync(join(top, "outside"), join(cwd, "out"));
  symlinkSync("private", join(cwd, "alias"));
  symlinkSync("alias", join(cwd, "alias-of-alias"));
  symlinkSync("../private/key", join(cwd, "src/innocent.ts"));
  symlinkSync(join(top, "outside/new-file"), join(cwd, "src/dangling"));
  symlinkSync("loop", join(cwd, "loop"));
  for (const name of ["src/blank ", " src", "src/blank \n"]) symlinkSync(join(top, "outside/secret"), join(cwd, name));
  symlinkSync(cwd, join(top, "way-in"));
  symlinkSync("../../outside/sub", join(cwd, "src/sub"));
});

const files = createSystemFiles();

async function decide(
  rules: PermissionRules,
  call: { readonly name: string; readonly input: unknown; readonly cwd?: string; readonly otherNames?: string[] },
  sight: Partial<PathLookup> = {},
) {
  const policy = createPolicy(
    { hooks: [], rules: [rules], permission: undefined, guards: [], outputMode: undefined },
    {
      runId: "r",
      agent: undefined,
      context: undefined,
      signal: new AbortController().signal,
      clock: createVirtualClock(),
      write: () => undefined,
      ask: () => new Promise(() => undefined),
      canAnswer: () => false,
      paths: { cwd, home, realPath: files.realPath, list: files.list, ignoresCase: false, ...sight },
    },
  );
  const verdict = await policy.checkCall({ callId: "c", executedBy: "backend", ...call });
  return verdict.kind === "run" ? "run" : verdict.reason.includes("no one is available") ? "asked" : "denied";
}

/** `@` stands for the folder above the working folder. */
const place = (text: string): string => text.replaceAll("@", top);

/** Every tool that is given a path, with the field it stands in. */
const TOOLS = [
  ["Read", "file_path"],
  ["Write", "file_path"],
  ["Edit", "file_path"],
  ["MultiEdit", "file_path"],
  ["NotebookEdit", "notebook_path"],
  ["Grep", "path"],
  ["LS", "path"],
  ["open_document", "path"],
] as const;

describe.each(TOOLS)("rules that deny a path to %s", (name, field) => {
  it.each([
    // A relative rule and absolute paths, as the CLI writes them.
    ["private/*", "@/work/private/key"],
    ["./private/*", "@/work/private/key"],
    ["private/*", "private/key"],
    ["private/*", "./private/../private//key"],
    ["private/*", "src/../private/key"],
    ["private/*", "@/work/./private/deep/key"],
    ["private/*", "@/work/private/not-there-yet"],
    ["private/*", "@/work/private/new/deep/er"],
    ["../outside/*", "@/outside/secret"],
    // Links: to the folder, to the file, to a link, and the way to the working folder itself.
    ["private/*", "@/work/alias/key"],
    ["private/*", "alias-of-alias/deep/key"],
    ["private/*", "src/innocent.ts"],
    ["private/*", "alias/not-there-yet"],
    ["private/*", "@/way-in/private/key"],
    ["private/*", "@/way-in/alias/key"],
    ["@/outside/*", "out/secret"],
    ["@/outside/*", "out/not-there-yet"],
    ["@/outside/*", "@/way-in/out/secret"],
    ["out/*", "@/outside/secret"],
    ["alias/*", "private/key"],
    // `..` behind a link leads elsewhere than the text says.
    ["@/outside/*", "src/sub/../secret"],
    ["private/*", "src/sub/../../work/private/key"],
    // The folder itself, and everything below it.
    ["private", "private/key"],
    ["@/outside", "out/sub"],
    ["alias", "private/deep/key"],
    // Other ways to write it.
    ["~/.ssh/*", "~/.ssh/id"],
    ["~/.ssh/*", "@/home/.ssh/id"],
    ["@/home/.ssh/*", "~/.ssh/id"],
    ["~/.ssh/*", "@/home//.ssh/./id"],
    ["private/*", "file://@/work/private/key"],
    ["private/*", "file://@/work/%70rivate/key"],
    ["private/*", " private/key "],
    ["//@/outside/*", "out/secret"],
    ["*/deep/*", "alias/deep/key"],
    ["*.ssh/*", "~/.ssh/id"],
    ["private/k*", "alias/key"],
  ])("F-A11: %s denies %s", async (pattern, path) => {
    const rules = { deny: [`${name}(${place(pattern)})`] };
    expect(await decide(rules, { name, input: { [field]: place(path) } })).toBe("denied");
  });

  it.each([
    ["private/*", "src/a.ts"],
    ["private/*", "@/work/src/a.ts"],
    ["private/*", "private-not/a"],
    ["@/outside/*", "src/a.ts"],
    ["~/.ssh/*", "src/a.ts"],
    ["src/*.md", "src/a.ts"],
  ])("F-A11: %s leaves %s alone", async (pattern, path) => {
    const rules = { deny: [`${name}(${place(pattern)})`] };
    expect(await decide(rules, { name, input: { [field]: place(path) } })).toBe("run");
  });

  it.each([
    ["a link to what is not there yet", "src/dangling"],
    ["a link that leads to itself", "loop/x"],
    ["somebody else's home folder", "~other/x"],
  ])("F-A11: %s may be anything, so it is asked", async (_, path) => {
    expect(await decide({ deny: [`${name}(private/*)`] }, { name, input: { [field]: path } })).toBe("asked");
    expect(await decide({ allow: [`${name}(src/*)`], otherwise: "deny" }, { name, input: { [field]: path } })).toBe(
      "denied",
    );
  });
});

describe("rules that allow a path", () => {
  it.each([
    ["src/*", "src/a.ts", "run"],
    ["src/*", "@/work/src/a.ts", "run"],
    ["./src/*", "@/way-in/src/a.ts", "run"],
    ["src/*", "src/new/file.ts", "run"],
    ["@/work/*", "src/a.ts", "run"],
    ["@/way-in/*", "src/a.ts", "run"],
    ["src/*", "src/innocent.ts", "denied"],
    ["src/*", "src/sub/x", "denied"],
    ["src/*", "src/../private/key", "denied"],
    ["src/*", "src/sub/../secret", "denied"],
    ["@/work/*", "out/secret", "denied"],
    ["out/*", "@/outside/secret", "denied"],
    ["out/*", "out/secret", "denied"],
    ["src/*", "src", "denied"],
    ["src/*", "src/dangling", "denied"],
  ])("F-A11: %s and %s: %s", async (pattern, path, expected) => {
    const rules: PermissionRules = { allow: [`Read(${place(pattern)})`], otherwise: "deny" };
    expect(await decide(rules, { name: "Read", input: { file_path: place(path) } })).toBe(expected);
  });
});

describe("rules about the paths of your own tools", () => {
  const many = (count: number): readonly string[] => Array.from({ length: count }, () => "src/a.ts");
  const nest = (value: unknown, levels: number): unknown => (levels === 0 ? value : { inner: nest(value, levels - 1) });

  it.each<[string, unknown]>([
    ["the last of 800 paths", { paths: [...many(799), "private/key"] }],
    ["a path far inside", nest({ path: "private/key" }, 20)],
    ["a long detour", { name: `${"./".repeat(600)}private/key` }],
    ["a detour longer than any path", { file_path: `${"./".repeat(3000)}private/key` }],
    ["a detour longer than any path, in a text", { name: `${"./".repeat(3000)}private/key` }],
    ["a folder with a brace", { name: "x{/../private/key" }],
    ["a folder with a line break", { name: "x\n/../private/key" }],
    ["a link in a text", { name: "alias/key" }],
    ["an address of a file", { url: "file://@/work/private/key" }],
    ["addresses of files", { urls: ["https://example.org", "FILE://@/work/private/key"] }],
    ["a second path in another spelling", { path: "src/a.ts", filePath: "private/key" }],
    ["a file beside a query", { query: "x", filename: "private/key" }],
    ["a folder beside a query", { query: "x", Directory: "private/deep" }],
    ["where something is moved from", { source: "private/key", destination: "src/a.ts" }],
    ["where something is moved to", { path: "src/a.ts", destination: "private/key" }],
  ])("F-A11: %s is denied, and not allowed by a rule about another folder", async (_, input) => {
    const call = { name: "open_document", input: JSON.parse(place(JSON.stringify(input))) as unknown };
    expect(await decide({ deny: ["open_document(private/*)"] }, call)).toBe("denied");
    expect(await decide({ deny: ["open_document(@/work/private/*)".replace("@", top)] }, call)).toBe("denied");
    expect(await decide({ allow: ["open_document(src/*)"] }, call)).toBe("asked");
  });

  it.each<[string, unknown]>([
    ["more paths than are looked at", { paths: many(2000) }],
    ["data that is deeper than is looked at", nest({ path: "src/a.ts" }, 100)],
  ])("F-A11: %s are asked about where a rule has a pattern", async (_, input) => {
    const call = { name: "open_document", input };
    expect(await decide({ deny: ["open_document(private/*)"] }, call)).toBe("asked");
    expect(await decide({ allow: ["open_document(src/*)"] }, call)).toBe("asked");
    expect(await decide({ deny: ["Read(private/*)"] }, call)).toBe("run");
    expect(await decide({ allow: ["open_document"] }, call)).toBe("run");
  });

  it("F-A11: a text that is a link out of an allowed folder is asked about; other texts are what they are", async () => {
    const rules = { allow: ["note(src/*)", "note(say *)", `note(${top}/way-in/src/*)`] };
    const say = (text: string) => decide(rules, { name: "note", input: { text } });
    expect(await say("src/innocent.ts")).toBe("asked");
    expect(await say(`${top}/way-in/src/innocent.ts`)).toBe("asked");
    for (const text of ["src/a.ts", "src/new.ts", `${top}/way-in/src/a.ts`, "say hello", `say ${"x".repeat(500)}`]) {
      expect([text, await say(text)]).toEqual([text, "run"]);
    }
  });

  it("F-A11: rules of every kind are about a tool under all of its names", async () => {
    const call = { name: "Agent", otherNames: ["Task"], input: { file_path: "alias/key" } };
    expect(await decide({ deny: ["Task"] }, call)).toBe("denied");
    expect(await decide({ deny: ["Task(private/*)"] }, call)).toBe("denied");
    expect(await decide({ deny: ["Task(src/*)"] }, call)).toBe("run");
    expect(await decide({ ask: ["T*k"] }, call)).toBe("asked");
    expect(await decide({ allow: ["Task(private/*)"], otherwise: "deny" }, call)).toBe("run");
    expect(await decide({ allow: ["Other"], otherwise: "deny" }, call)).toBe("denied");
  });

  it("F-A11: white space around a pattern does not belong to it", async () => {
    const call = { name: "Read", input: { file_path: "private/key" } };
    expect(await decide({ deny: ["Read( private/* )"] }, call)).toBe("denied");
  });
});

describe("rules and searches", () => {
  it.each([
    ["Grep(private/*)", { pattern: "x" }, "asked"],
    ["Grep(private/*)", { pattern: "x", path: "." }, "asked"],
    ["Grep(private/*)", { pattern: "x", path: "@" }, "asked"],
    ["Grep(private/*)", { pattern: "x", path: "src" }, "run"],
    ["Grep(private/*)", { pattern: "x", path: "alias/deep" }, "denied"],
    ["Glob(private/*)", { pattern: "private/**" }, "denied"],
    ["Glob(private/*)", { pattern: "**/*.md", path: "alias/deep" }, "denied"],
    ["Glob(private/*)", { pattern: "@/work/private/*" }, "denied"],
    ["Glob(private/*)", { pattern: "*.ts", path: "src" }, "run"],
    ["Glob(private/*)", { pattern: "../private/*", path: "src" }, "denied"],
  ])("F-A11: %s and %j: %s", async (rule, input, expected) => {
    const given = JSON.parse(place(JSON.stringify(input))) as Record<string, unknown>;
    expect(await decide({ deny: [rule] }, { name: rule.split("(", 1)[0] ?? "", input: given })).toBe(expected);
  });
});

describe("where paths start from", () => {
  it("F-A11: a call in another folder is judged there and in the working folder", async () => {
    const rules = { deny: ["Read(private/*)"] };
    const there = join(cwd, "private");
    expect(await decide(rules, { name: "Read", input: { file_path: "key" }, cwd: there })).toBe("denied");
    expect(await decide(rules, { name: "Read", input: { file_path: "key" } })).toBe("run");
    expect(await decide(rules, { name: "Read", input: { file_path: "private/key" }, cwd: there })).toBe("denied");
  });

  it("F-A11: names that differ in case are one file where the system says so", async () => {
    const call = { name: "Read", input: { file_path: "PRIVATE/Key" } };
    expect(await decide({ deny: ["Read(private/*)"] }, call)).toBe("run");
    expect(await decide({ deny: ["Read(private/*)"] }, call, { ignoresCase: true })).toBe("denied");
    expect(
      await decide(
        { deny: ["Read(Private/*)"] },
        { name: "Read", input: { file_path: "private/key" } },
        { ignoresCase: true },
      ),
    ).toBe("denied");
  });

  it("F-A11: a disk that cannot be read makes nothing allowed", async () => {
    const broken = { realPath: () => Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" })) };
    const call = { name: "Read", input: { file_path: "src/a.ts" } };
    expect(await decide({ deny: ["Read(private/*)"] }, call, broken)).toBe("asked");
    expect(await decide({ allow: ["Read(src/*)"], otherwise: "deny" }, call, broken)).toBe("denied");
  });

  /** A disk that finds names whatever their capitals and lists them as they are, as one of Windows that is mounted here. */
  const mounted: Partial<PathLookup> = {
    async realPath(path) {
      if (cwd.startsWith(path)) return path;
      const names = path.slice(cwd.length + 1).split("/");
      let at = cwd;
      for (const name of names) {
        const there = (await files.list(at)).some((other) => other.toLowerCase() === name.toLowerCase());
        if (!there) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
        at = `${at}/${name.toLowerCase()}`;
      }
      return path;
    },
    list: (path) => files.list(path.startsWith(cwd) ? cwd + path.slice(cwd.length).toLowerCase() : path),
  };

  it.each([
    ["PRIVATE/Key", "denied"],
    ["private/KEY", "denied"],
    ["Private/not-there-yet", "denied"],
    ["SRC/A.ts", "run"],
    ["nowhere/key", "run"],
  ])("F-A11: %s on a disk that ignores case although the system does not", async (path, expected) => {
    const call = { name: "Read", input: { file_path: path } };
    expect(await decide({ deny: ["Read(private/*)"] }, call, mounted)).toBe(expected);
  });

  it.each<[string, string]>([
    ["private./key", "dots at the end of a name"],
    ["private /key", "blanks at the end of a name"],
    ["private/key.", "dots at the end"],
    ["private/key::$DATA", "a stream"],
    ["private::$INDEX_ALLOCATION/key", "a stream of a folder"],
    ["PR\u0130VATE/../private/key", "detours"],
    ["privatE/\u212Aey", "letters that are another letter's capital"],
    ["/System/Volumes/Data@/work/private/key", "the volume of the data"],
  ])("F-A11: where case is ignored, %j is denied: %s", async (path) => {
    const call = { name: "Read", input: { file_path: place(path) } };
    expect(await decide({ deny: ["Read(private/*)"] }, call, { ignoresCase: true })).not.toBe("run");
  });

  it.each([
    ["Read(caf\u00e9/*)", "cafe\u0301/x"],
    ["Read(cafe\u0301/*)", "caf\u00e9/x"],
    ["Read(@/work/caf\u00e9/*)", "@/work/cafe\u0301/x"],
  ])("F-A11: %s denies %s: letters that look the same are the same to a denial", async (rule, path) => {
    const call = { name: "Read", input: { file_path: place(path) } };
    expect(await decide({ deny: [place(rule)] }, call)).toBe("denied");
    expect(await decide({ allow: [place(rule)], otherwise: "deny" }, call), "and not to an allowance").toBe("denied");
  });

  it.each([
    ["/proc/self/root@/work/private/key", "denied"],
    ["/proc/self/cwd/private/key", "asked"],
    ["/proc/thread-self/root/etc/hosts", "asked"],
    ["/proc/1/root/etc/hosts", "asked"],
    ["/proc/self/fd/3", "asked"],
    ["/dev/fd/3", "asked"],
    ["/dev/stdin", "asked"],
    ["src/../../../../../proc/self/environ", "asked"],
    ["/.vol/16777220/2", "asked"],
    ["//localhost/c$/x", "asked"],
  ])("F-A11: %s may be any place: %s", async (path, expected) => {
    const call = { name: "Read", input: { file_path: place(path) } };
    expect(await decide({ deny: ["Read(private/*)"] }, call)).toBe(expected);
    expect(await decide({ allow: ["Read(/*)"], otherwise: "deny" }, call)).toBe("denied");
  });

  it.each(["src/blank ", " src/blank", "src/blank \n"])(
    "F-A11: %j is a name with its blanks, and without",
    async (path) => {
      const call = { name: "Read", input: { file_path: path } };
      expect(await decide({ allow: ["Read(src/*)"], otherwise: "deny" }, call)).toBe("denied");
      const { trim } = { trim: { name: "Read", input: { file_path: " private/key " } } };
      expect(await decide({ deny: ["Read(private/*)"] }, trim)).toBe("denied");
    },
  );

  it("the folders of this test are real", () => {
    expect(realpathSync(join(cwd, "alias"))).toBe(realpathSync(join(cwd, "private")));
  });
});

describe("R11: rules and a disk that cannot be looked at", () => {
  const deny: PermissionRules = { deny: ["Read(alias/*)"], allow: ["Read"] };
  const call = { name: "Read", input: { file_path: "private/key" } };
  const busy = (only: (path: string) => boolean): Partial<PathLookup> => ({
    realPath: (path) =>
      only(path)
        ? Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" }))
        : files.realPath(path),
  });

  it("a rule whose own folder cannot be followed is asked about, and denies nothing less", async () => {
    expect(await decide(deny, call)).toBe("denied");
    expect(
      await decide(
        deny,
        call,
        busy((path) => path.endsWith("/alias")),
      ),
    ).toBe("asked");
  });

  it("what a rule is about is looked up again with the next call", async () => {
    let isBusy = true;
    const sight = busy((path) => path.endsWith("/alias") && isBusy);
    const policy = createPolicy(
      { hooks: [], rules: [deny], permission: undefined, guards: [], outputMode: undefined },
      {
        runId: "r",
        agent: undefined,
        context: undefined,
        signal: new AbortController().signal,
        clock: createVirtualClock(),
        write: () => undefined,
        ask: async () => ({ allow: true }),
        paths: { cwd, home, realPath: files.realPath, list: files.list, ignoresCase: false, ...sight },
      },
    );
    const judge = async (callId: string) => (await policy.checkCall({ callId, executedBy: "backend", ...call })).kind;
    expect(await judge("first")).toBe("run");
    isBusy = false;
    expect(await judge("second")).toBe("denied");
  });

  it("a folder that may not be entered is no reason to ask about everything", async () => {
    const closed: Partial<PathLookup> = {
      realPath: (path) =>
        path.startsWith("/root/")
          ? Promise.reject(Object.assign(new Error("permission denied"), { code: "EACCES" }))
          : files.realPath(path),
    };
    const rules: PermissionRules = { deny: ["Read(/root/.ssh/*)"], allow: ["Read"] };
    expect(await decide(rules, { name: "Read", input: { file_path: "src/a.ts" } }, closed)).toBe("run");
    expect(await decide(rules, { name: "Read", input: { file_path: "/root/.ssh/id" } }, closed)).toBe("denied");
  });
});
