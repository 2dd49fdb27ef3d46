import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { createFindRepositories, createSystemFiles } from "#transports";
import { childEnvironment } from "../../src/backends/claude-code/environment.ts";
import { isolateGit } from "../../src/backends/claude-code/git-isolation.ts";
import { isolateFolders } from "../../src/backends/claude-code/git-nested.ts";
import { removeFolder, temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder("git");
const home = join(folder, "home");
const repository = join(folder, "repository");
const canary = join(folder, "canary");
const parent = { PATH: process.env["PATH"] ?? "", HOME: home };

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
    cwd: repository,
    env: parent,
  }).toString();

/** A home, and a repository with two commits and a change, in which git has something to show whatever it is asked. */
const pristine = temporaryFolder("git-pristine");
beforeAll(() => {
  mkdirSync(repository, { recursive: true });
  mkdirSync(home);
  git("init", "--quiet", ".");
  for (const text of ["one\n", "two\n"]) {
    writeFileSync(join(repository, "a.txt"), text);
    git("add", ".");
    git("commit", "--quiet", "--message", text.trim());
  }
  writeFileSync(join(repository, "a.txt"), "six\n");
  cpSync(folder, pristine, { recursive: true });
});

beforeEach(async () => {
  await removeFolder(folder);
  cpSync(pristine, folder, { recursive: true });
});

const configure = (text: string, file = ".git/config"): void => appendFileSync(join(repository, file), `\n${text}\n`);
const leave = `touch ${canary};:`;

/** Runs git as the CLI would: with the variables it is given. Says whether anything of the repository ran. */
async function runIsolated(words: readonly string[]): Promise<{ readonly ran: boolean; readonly stdout: string }> {
  const settings = await isolateGit([repository], { files: createSystemFiles(), home });
  return runIn(words, childEnvironment({ parent, git: settings }));
}

function runIn(words: readonly string[], env: Readonly<Record<string, string>>) {
  rmSync(canary, { force: true });
  // As long as what was committed, so that git has to look into the file.
  writeFileSync(join(repository, "a.txt"), "six\n");
  const { stdout } = spawnSync("git", words, { cwd: repository, env, encoding: "utf8" });
  return { ran: existsSync(canary), stdout };
}

const attribute = (what: string): void => writeFileSync(join(repository, ".gitattributes"), `*.txt ${what}=evil\n`);

describe("F-A4: nothing that a repository's git configuration names is run", () => {
  it.each<[string, () => void, readonly string[]]>([
    ["core.fsmonitor", () => configure(`[core]\nfsmonitor = "${leave}"`), ["status"]],
    ["core.fsmonitor, on diff", () => configure(`[core]\nfsmonitor = "${leave}"`), ["diff"]],
    ["diff.external", () => configure(`[diff]\nexternal = "${leave}"`), ["diff"]],
    ["diff.<driver>.command", () => (attribute("diff"), configure(`[diff "evil"]\ncommand = "${leave}"`)), ["diff"]],
    [
      "diff.<driver>.textconv",
      () => (attribute("diff"), configure(`[diff "evil"]\ntextconv = "${leave}"`)),
      ["log", "-p"],
    ],
    ["the same on show", () => (attribute("diff"), configure(`[diff "evil"]\ntextconv = "${leave}"`)), ["show"]],
    [
      "the same on blame",
      () => (attribute("diff"), configure(`[diff "evil"]\ntextconv = "${leave}"`)),
      ["blame", "a.txt"],
    ],
    [
      "filter.<driver>.clean",
      () => (attribute("filter"), configure(`[filter "evil"]\nclean = "${leave}"`)),
      ["status"],
    ],
    [
      "filter.<driver>.process, required",
      () => (attribute("filter"), configure(`[filter "evil"]\nrequired\nprocess = "${leave}"`)),
      ["status"],
    ],
    [
      "filter.<driver>.smudge",
      () => (attribute("filter"), configure(`[filter "evil"]\nsmudge = "${leave}"`)),
      ["checkout", "."],
    ],
    ["an alias for the shell", () => configure(`[alias]\nst = "!${leave}"`), ["st"]],
    ["an alias with options", () => configure(`[alias]\nl = "-c core.fsmonitor='${leave}' status"`), ["l"]],
    [
      "core.editor",
      () => configure(`[core]\neditor = "${leave}"`),
      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--amend"],
    ],
    ["core.sshCommand", () => configure(`[core]\nsshCommand = "${leave}"`), ["ls-remote", "ssh://127.0.0.1:1/x"]],
    [
      "remote.<name>.uploadpack",
      () => configure(`[remote "o"]\nurl = ./\nuploadpack = "${leave}"`),
      ["ls-remote", "o"],
    ],
    [
      "an address that is a command",
      () => configure(`[protocol "ext"]\nallow = always\n[remote "o"]\nurl = "ext::touch ${canary}"`),
      ["ls-remote", "o"],
    ],
    [
      "trailer.<key>.command",
      () => configure(`[trailer "x"]\ncommand = "${leave}"`),
      ["interpret-trailers", "--trailer", "x=y", "a.txt"],
    ],
    [
      "a file in the repository that is included",
      () => {
        writeFileSync(join(repository, "evil.config"), `[core]\nsshCommand = "${leave}"`);
        configure(`[includeIf "gitdir:/"]\npath = ../evil.config`);
      },
      ["ls-remote", "ssh://127.0.0.1:1/x"],
    ],
    [
      "a file that is included from the home folder on",
      () => {
        writeFileSync(join(repository, "evil.config"), `[diff]\nexternal = "${leave}"`);
        configure("[include]\npath = ~/../repository/evil.config");
      },
      ["diff"],
    ],
    [
      "the configuration of a working tree",
      () => {
        configure("[extensions]\nworktreeConfig = true");
        writeFileSync(join(repository, ".git/config.worktree"), `[diff]\nexternal = "${leave}"`);
      },
      ["diff"],
    ],
    [
      "core.hooksPath",
      () => {
        writeHook(join(repository, "hooks"), "reference-transaction");
        configure("[core]\nhooksPath = hooks");
      },
      ["branch", "new"],
    ],
    [
      "a hook in .git/hooks",
      () => writeHook(join(repository, ".git/hooks"), "reference-transaction"),
      ["branch", "new"],
    ],
  ])("%s", async (_, prepare, words) => {
    prepare();
    expect(runIn(words, parent).ran, "without isolation it runs").toBe(true);
    expect((await runIsolated(words)).ran).toBe(false);
  });

  it.each([
    ["an external difference", '[diff]\nexternal = "touch x;:"', "diff"],
    ["a driver", '[diff "evil"]\ncommand = "touch x;:"', "diff"],
    ["a text conversion", '[diff "evil"]\ntextconv = "touch x;:"', "diff"],
    ["a filter", '[filter "evil"]\nclean = "touch x;:"\nrequired', "filter"],
  ])("git still shows what has changed, without %s", async (_, text, what) => {
    attribute(what);
    configure(text);
    const { stdout } = await runIsolated(["diff", "--", "a.txt"]);
    expect(stdout).toContain("-two");
    expect(stdout).toContain("+six");
  });

  it("the person's own configuration holds", async () => {
    writeFileSync(join(home, ".gitconfig"), `[alias]\nmine = "!touch ${canary}"\n[core]\neditor = vi\n`);
    expect((await runIsolated(["mine"])).ran).toBe(true);
    expect((await runIsolated(["config", "core.editor"])).stdout.trim()).toBe("vi");
  });

  it("large files of git-lfs keep their filters", async () => {
    configure('[filter "lfs"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nrequired = true');
    expect((await runIsolated(["config", "filter.lfs.clean"])).stdout.trim()).toBe("git-lfs clean -- %f");
  });

  // What needs a program or a version of git that is not on every machine: the setting is what can be looked at.
  it.each([
    ["lfs.extension.evil.clean", '[lfs "extension.evil"]\nclean = evil', "cat"],
    ["lfs.customtransfer.evil.path", '[lfs "customtransfer.evil"]\npath = evil', "false"],
    ["hook.evil.command", '[hook "evil"]\ncommand = evil', "true"],
    ["gc.recentObjectsHook", "[gc]\nrecentObjectsHook = evil", "true"],
    ["gpg.program", "[gpg]\nprogram = evil", "gpg"],
    ["gpg.ssh.program", '[gpg "ssh"]\nprogram = evil', "ssh-keygen"],
    ["log.showSignature", "[log]\nshowSignature = true", "false"],
    ["credential.https://example.com.helper", '[credential "https://example.com"]\nhelper = evil', ""],
    ["core.askPass", "[core]\naskPass = evil", ""],
    ["merge.evil.driver", '[merge "evil"]\ndriver = evil', "git merge-file %A %O %B"],
    ["submodule.evil.update", '[submodule "evil"]\nupdate = !evil', "checkout"],
    ["imap.tunnel", "[imap]\ntunnel = evil", "false"],
    ["instaweb.httpd", "[instaweb]\nhttpd = evil", "false"],
    ["svn.authorsProg", "[svn]\nauthorsProg = evil", "false"],
    ["difftool.evil.cmd", '[difftool "evil"]\ncmd = evil', "false"],
  ])("%s has a harmless value", async (key, text, value) => {
    configure(text);
    expect((await runIsolated(["config", key])).stdout.trim()).toBe(value);
  });

  it("a repository inside the folder that nobody asked about is not used", async () => {
    const bare = join(repository, "bare");
    git("init", "--quiet", "--bare", "bare");
    appendFileSync(join(bare, "config"), `\n[alias]\nst = "!${leave}"\n`);
    const env = childEnvironment({ parent, git: await isolateGit([repository], { files: createSystemFiles(), home }) });
    spawnSync("git", ["st"], { cwd: bare, env });
    expect(existsSync(canary)).toBe(false);
  });

  const commit = (folder: string): void => {
    const inner = (...args: readonly string[]): void =>
      void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: folder, env: parent });
    inner("init", "--quiet", ".");
    writeFileSync(join(folder, "b.txt"), "one\n");
    inner("add", ".");
    inner("commit", "--quiet", "--message", "one");
    writeFileSync(join(folder, ".gitattributes"), "*.txt filter=inner\n");
    appendFileSync(join(folder, ".git/config"), `\n[filter "inner"]\nclean = "${leave}"\n`);
  };

  it.each<[string, readonly string[], string]>([
    ["a submodule", ["2"], "sub"],
    ["a submodule, in an index of another version", ["4"], "a folder/sub"],
    ["a repository that it has an entry for", ["2"], "sub"],
    ["a repository in that", ["3"], "sub/deeper/still"],
  ])("F-A4: nor what that of %s inside of it names", async (kind, [version = "2"], path) => {
    const inner = join(repository, path);
    mkdirSync(inner, { recursive: true });
    commit(inner);
    if (path.startsWith("sub/")) commit(join(repository, "sub"));
    if (path.startsWith("sub/")) {
      execFileSync("git", ["add", "deeper/still"], { cwd: join(repository, "sub"), env: parent, stdio: "ignore" });
      rmSync(canary, { force: true });
    }
    git("config", "index.version", version);
    const top = path.startsWith("sub/") ? "sub" : path;
    execFileSync("git", ["add", top], { cwd: repository, env: parent, stdio: "ignore" });
    if (kind.startsWith("a submodule")) {
      writeFileSync(join(repository, ".gitmodules"), `[submodule "x"]\n\tpath = ${path}\n\turl = ./x\n`);
      git("submodule", "absorbgitdirs");
    }
    const touch = (): void => writeFileSync(join(inner, "b.txt"), "two\n");
    touch();
    expect(runIn(["status"], parent).ran, "without isolation it runs").toBe(true);
    touch();
    expect((await runIsolated(["status"])).ran).toBe(false);
  });

  it("a file that only git could find is a reason not to start, and the message says what to do", async () => {
    configure("[include]\npath = ~somebody/evil.config");
    const error: unknown = await isolateGit([repository], { files: createSystemFiles(), home }).catch((why) => why);
    if (!isStartError(error)) throw new Error("it was not refused");
    expect(error.code).toBe("invalid-config");
    expect(error.message).toContain('"~somebody/evil.config"');
    expect(error.message).toContain("claudeCode.repositoryGit");
  });

  it.each(["read", "exists"] as const)(
    "R11: a configuration that cannot be looked at (%s) is not taken for one without commands",
    async (name) => {
      const system = createSystemFiles();
      const busy = Object.assign(new Error("too many open files"), { code: "EMFILE" });
      const look = (path: string) => (path.includes(".git") ? Promise.reject(busy) : system[name](path));
      const files = { ...system, [name]: look };
      const error: unknown = await isolateGit([repository], { files, home }).catch((why: unknown) => why);
      expect(error).toMatchObject({ code: "invalid-config" });
      expect(String(error)).toMatch(/too many open files.*repositoryGit/);
    },
  );
});

/** A repository with a commit, a change, and a configuration of its own. */
function makeRepository(at: string, config: string): string {
  mkdirSync(at, { recursive: true });
  const run = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: at, env: parent });
  run("init", "--quiet", ".");
  writeFileSync(join(at, "a.txt"), "one\n");
  run("add", ".");
  run("commit", "--quiet", "--message", "one");
  writeFileSync(join(at, "a.txt"), "two\n");
  appendFileSync(join(at, ".git/config"), `\n${config}\n`);
  return at;
}

describe("F-A4: nor what git finds elsewhere than a simpler reader would", () => {
  const evil = `[diff]\nexternal = "${leave}"\n`;
  const inner = join(repository, "inner");
  const elsewhere = join(folder, "elsewhere");
  const driver = (name: string, header: string): string => {
    writeFileSync(join(repository, ".gitattributes"), Buffer.from(`*.txt diff=${name}\n`, "latin1"));
    appendFileSync(join(repository, ".git/config"), Buffer.from(`\n${header}\ntextconv = "${leave}"\n`, "latin1"));
    return repository;
  };

  /** Each prepares a place, and gives the folder that the CLI works in. */
  const PLACES: readonly [string, () => string, ...string[]][] = [
    ["a header with a carriage return", () => driver("evil", '[diff\r"evil"]')],
    ["a driver in both ways to write one", () => driver("evil.x", '[diff.evil "x"]')],
    [
      "an include that begins on the next line",
      () => {
        writeFileSync(join(repository, "evil.config"), evil);
        configure("[include]\npath = \\\n ../evil.config");
        return repository;
      },
    ],
    [
      "the repository above an empty git folder",
      () => {
        configure(evil);
        mkdirSync(join(inner, ".git"), { recursive: true });
        return inner;
      },
    ],
    [
      "the repository above one whose HEAD is no reference",
      () => {
        configure(evil);
        makeRepository(inner, "");
        writeFileSync(join(inner, ".git/HEAD"), "garbage\n");
        return inner;
      },
    ],
    [
      "the repository above the place where the working folder really is",
      () => {
        configure(evil);
        mkdirSync(inner);
        symlinkSync(inner, join(folder, "project"));
        return join(folder, "project");
      },
    ],
    [
      "a file beside the place where a linked git folder really is",
      () => {
        mkdirSync(elsewhere);
        renameSync(join(repository, ".git"), join(elsewhere, "git-folder"));
        symlinkSync(join(elsewhere, "git-folder"), join(repository, ".git"));
        writeFileSync(join(elsewhere, "evil.config"), evil);
        configure("[include]\npath = ../evil.config");
        return repository;
      },
    ],
    [
      "a git folder that is named over a link",
      () => {
        mkdirSync(join(elsewhere, "deep"), { recursive: true });
        renameSync(join(repository, ".git"), join(elsewhere, "git-folder"));
        symlinkSync(join(elsewhere, "deep"), join(repository, "link"));
        writeFileSync(join(repository, ".git"), "gitdir: link/../git-folder\n");
        appendFileSync(join(elsewhere, "git-folder/config"), `\n${evil}`);
        return repository;
      },
    ],
    [
      "a git folder with blanks in its name",
      () => {
        mkdirSync(elsewhere);
        renameSync(join(repository, ".git"), join(elsewhere, " g "));
        writeFileSync(join(repository, ".git"), `gitdir: ${elsewhere}/ g \n`);
        appendFileSync(join(elsewhere, " g /config"), `\n${evil}`);
        return repository;
      },
    ],
    [
      "a shared git folder with a blank in its name",
      () => {
        const own = join(elsewhere, "own");
        mkdirSync(own, { recursive: true });
        renameSync(join(repository, ".git"), join(elsewhere, "shared "));
        for (const name of ["HEAD", "index"]) cpSync(join(elsewhere, "shared ", name), join(own, name));
        writeFileSync(join(own, "commondir"), "../shared \n");
        writeFileSync(join(repository, ".git"), `gitdir: ${own}\n`);
        appendFileSync(join(elsewhere, "shared /config"), `\n${evil}`);
        return repository;
      },
    ],
    [
      "a script that is named as the tool for differences",
      () => {
        writeFileSync(join(repository, "evil.sh"), leave);
        configure(`[diff]\ntool = ${"../".repeat(12)}proc/self/cwd/evil.sh`);
        return repository;
      },
      "difftool",
      "--no-prompt",
    ],
  ];

  it.each(PLACES)("%s", async (_, prepare, ...given) => {
    const words = given.length > 0 ? given : ["diff", "--", repository];
    const cwd = prepare();
    const ask = (env: Readonly<Record<string, string>>): boolean => {
      rmSync(canary, { force: true });
      writeFileSync(join(repository, "a.txt"), "six\n");
      spawnSync("git", words, { cwd, env, stdio: "ignore" });
      return existsSync(canary);
    };
    expect(ask(parent), "without isolation it runs").toBe(true);
    const { settings } = await isolateFolders([cwd], {
      files: createSystemFiles(),
      home,
      findRepositories: createFindRepositories(),
    });
    expect(ask(childEnvironment({ parent, git: settings }))).toBe(false);
  });

  it.each<[string, () => unknown]>([
    ["a driver", () => driver("e\xffl", '[diff "e\xffl"]')],
    [
      "an included file",
      () => appendFileSync(join(repository, ".git/config"), Buffer.from("\n[include]\npath = ../e\xffl\n", "latin1")),
    ],
    [
      "the git folder",
      () => {
        rmSync(join(repository, ".git"), { recursive: true });
        writeFileSync(join(repository, ".git"), Buffer.from("gitdir: e\xffl\n", "latin1"));
      },
    ],
  ])("%s whose name is not UTF-8 is a reason not to start", async (_, prepare) => {
    prepare();
    const error: unknown = await isolateGit([repository], { files: createSystemFiles(), home }).catch((why) => why);
    expect(error).toMatchObject({ code: "invalid-config" });
    expect(String(error)).toMatch(/repositoryGit/);
  });

  it("a folder in it whose name is not UTF-8 is a warning", async () => {
    mkdirSync(Buffer.concat([Buffer.from(`${repository}/e`), Buffer.from([0xff])]));
    const machine = { files: createSystemFiles(), home, findRepositories: createFindRepositories() };
    const { warnings } = await isolateFolders([repository], machine);
    expect(warnings).toMatchObject([{ code: "git-not-isolated", message: expect.stringContaining("not UTF-8") }]);
  });
});

function writeHook(hooks: string, name: string): void {
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(join(hooks, name), 0o755);
}

describe("F-A4: nor what the configuration of a repository names that merely lies in the folder", () => {
  const search = createFindRepositories();
  const isolated = async (findRepositories = search) => {
    const found = await isolateFolders([repository], { files: createSystemFiles(), home, findRepositories });
    return { warnings: found.warnings, env: childEnvironment({ parent, git: found.settings }) };
  };
  /** A repository that no entry and no `.gitmodules` names, with one commit and a change. */
  const nest = (path: string, config: string): string => {
    const inner = join(repository, path);
    mkdirSync(inner, { recursive: true });
    const run = (...args: readonly string[]): void =>
      void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: inner, env: parent });
    run("init", "--quiet", ".");
    writeFileSync(join(inner, "b.txt"), "one\n");
    run("add", ".");
    run("commit", "--quiet", "--message", "one");
    writeFileSync(join(inner, "b.txt"), "two\n");
    writeFileSync(join(inner, ".gitattributes"), "*.txt filter=inner diff=inner merge=inner\n");
    appendFileSync(join(inner, ".git/config"), `\n${config}\n`);
    return inner;
  };
  const ask = (words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): boolean => {
    rmSync(canary, { force: true });
    writeFileSync(join(cwd, "b.txt"), "six\n");
    spawnSync("git", words, { cwd, env, input: "protocol=https\nhost=example.com\n\n" });
    return existsSync(canary);
  };

  it.each<[string, string, readonly string[]]>([
    ["filter.<driver>.clean", `[filter "inner"]\nclean = "${leave}"`, ["status"]],
    ["filter.<driver>.smudge", `[filter "inner"]\nsmudge = "${leave}"`, ["checkout", "b.txt"]],
    ["filter.<driver>.process", `[filter "inner"]\nprocess = "${leave}"`, ["diff"]],
    ["diff.<driver>.textconv", `[diff "inner"]\ntextconv = "${leave}"`, ["diff"]],
    ["diff.<driver>.command", `[diff "inner"]\ncommand = "${leave}"`, ["diff"]],
    ["diff.external", `[diff]\nexternal = "${leave}"`, ["diff"]],
    ["core.fsmonitor", `[core]\nfsmonitor = "${leave}"`, ["status"]],
    ["core.sshCommand", `[core]\nsshCommand = "${leave}"`, ["ls-remote", "ssh://127.0.0.1:1/x"]],
    ["an alias", `[alias]\nst = "!${leave}"`, ["st"]],
    [
      "trailer.<key>.command",
      `[trailer "x"]\ncommand = "${leave}"`,
      ["interpret-trailers", "--trailer", "x=y", "b.txt"],
    ],
    ["credential.helper", `[credential]\nhelper = "!${leave}"`, ["credential", "fill"]],
    ["core.editor", `[core]\neditor = "${leave}"`, ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--amend"]],
  ])("%s", async (_, config, words) => {
    for (const path of ["inner", "a/b/c/d/e/f/inner", "node_modules/p"]) {
      const inner = nest(path, config);
      expect(ask(words, inner, parent), "without isolation it runs").toBe(true);
      const { env, warnings } = await isolated();
      expect([path, ask(words, inner, env), warnings]).toEqual([path, false, []]);
      rmSync(join(repository, path), { recursive: true });
    }
  });

  it("a file that it includes, a git folder elsewhere, and one without a working tree", async () => {
    const included = nest("included", "[include]\npath = ../../evil.config");
    writeFileSync(join(repository, "evil.config"), `[diff "inner"]\ntextconv = "${leave}"`);
    const linked = nest("linked", `[diff]\nexternal = "${leave}"`);
    renameSync(join(linked, ".git"), join(repository, "git-folder"));
    writeFileSync(join(linked, ".git"), "gitdir: ../git-folder\n");
    const bare = nest("made-bare", `[core]\nbare = true\n[alias]\nst = "!${leave}"`);
    renameSync(join(bare, ".git"), join(repository, "plain"));
    const { env } = await isolated();
    const asked: readonly (readonly [readonly string[], string])[] = [
      [["diff"], included],
      [["diff"], linked],
      [["--git-dir=plain", "st"], repository],
    ];
    for (const [words, cwd] of asked) {
      expect(ask(words, cwd, parent), words.join(" ")).toBe(true);
      expect(ask(words, cwd, env), words.join(" ")).toBe(false);
    }
  });

  it("a folder with too much in it is searched as far as that goes, and a warning says so", async () => {
    for (let index = 0; index < 100; index += 1) mkdirSync(join(repository, `d${index}/e`), { recursive: true });
    const near = nest("inner", `[diff]\nexternal = "${leave}"`);
    const { env, warnings } = await isolated(createFindRepositories(128));
    expect(warnings).toMatchObject([{ code: "git-not-isolated", message: expect.stringContaining(repository) }]);
    expect(ask(["diff"], near, env)).toBe(false);
  });

  it("one whose configuration cannot be read is a warning, and the others are isolated", async () => {
    const odd = nest("odd", "[include]\npath = ~somebody/evil.config");
    const inner = nest("inner", `[diff]\nexternal = "${leave}"`);
    const { env, warnings } = await isolated();
    expect(warnings).toMatchObject([{ code: "git-not-isolated", context: { folder: odd } }]);
    expect(ask(["diff"], inner, env)).toBe(false);
  });

  it("no link is followed, and no folder twice", async () => {
    symlinkSync(repository, join(repository, "loop"));
    const inner = nest("inner", "");
    expect(await search(repository)).toEqual({ folders: [inner], isComplete: true });
  });
});
