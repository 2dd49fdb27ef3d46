import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { parseRule } from "./rule.ts";
import { findAllowing, findHit, readRules, rulesFor } from "./rule-set.ts";

type Case = readonly [rule: string, tool: string, input: unknown, matches: boolean];

const bash = (command: string): unknown => ({ command });

describe("rules that deny or ask", () => {
  const plain: readonly Case[] = [
    ["Bash", "Bash", bash("ls"), true],
    ["Bash", "BashOutput", bash("ls"), false],
    ["*", "Anything", {}, true],
    ["Bash(*)", "Bash", bash("ls"), true],
    ["mcp__*", "mcp__calc__add", {}, true],
    ["mcp__calc", "mcp__calc__add", {}, true],
    ["mcp__calc", "mcp__calculator__add", {}, false],
    ["mcp__my_calc", "mcp__my_calc__add", {}, true],
    ["mcp__calc__add", "mcp__calc__add", {}, true],
    ["mcp__calc__add", "mcp__calc__sub", {}, false],
    ["Bash(rm *)", "Bash", bash("rm -rf x"), true],
    ["Bash(rm *)", "Bash", bash("rmdir x"), false],
    ["Bash(rm *)", "Read", bash("rm -rf x"), false],
    ["Bash(git push)", "Bash", bash("git push"), true],
    ["Bash(git push)", "Bash", bash("git push origin"), false],
    ["Bash(git push:*)", "Bash", bash("git push"), true],
    ["Bash(git push:*)", "Bash", bash("git push origin"), true],
    ["Bash(git push:*)", "Bash", bash("git pushx"), false],
    ["Bash(*--force*)", "Bash", bash("git push --force origin"), true],
    ["Bash(git * main)", "Bash", bash("git push origin main"), true],
    ["Bash(f(x) *)", "Bash", bash("f(x) y"), true],
    ["Read(/etc/*)", "Read", { file_path: "/etc/passwd" }, true],
    ["Read(/etc/*)", "Read", { file_path: "/home/etc/passwd" }, false],
    ["Read(*.env)", "Read", { file_path: "/app/.env" }, true],
    ["List(/etc*)", "List", { path: "/etc" }, true],
    ["Fetch(https://evil.com/*)", "Fetch", { url: "https://evil.com/x" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://evil.com/x" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://a.b.evil.com/x" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://notevil.com/x" }, false],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://good.com/?evil.com" }, false],
    ["Search(secret*)", "Search", { query: "secret plans" }, true],
    ["Say(hello*)", "Say", { phrase: "hello you", times: 3 }, true],
    ["Say(hello*)", "Say", "hello", true],
    ['Say(*"times":3*)', "Say", { phrase: "x", times: 3, to: "y" }, true],
    ["refund(*)", "refund", { amount: 5 }, true],
    ['refund({"amount":5})', "refund", { amount: 5 }, true],
  ];
  it.each(plain)("S4 %s and %s %j: %s", (rule, tool, input, matches) => {
    expect(findHit([parseRule(rule)], tool, input) !== undefined).toBe(matches);
  });

  const hidden: readonly string[] = [
    "  rm -rf x",
    "rm\t-rf x",
    "rm  -rf   x",
    "ls; rm -rf x",
    "ls;rm -rf x",
    "ls && rm -rf x",
    "false || rm -rf x",
    "ls | rm -rf x",
    "ls & rm -rf x",
    "ls\nrm -rf x",
    "ls \\\n; rm -rf x",
    "echo $(rm -rf x)",
    'echo "$(rm -rf x)"',
    "echo `rm -rf x`",
    'echo "`rm -rf x`"',
    "echo $(echo $(rm -rf x))",
    "(rm -rf x)",
    "{ rm -rf x; }",
    "cat <(rm -rf x)",
    "A=1 rm -rf x",
    "A=1 B='2 3' rm -rf x",
    "A[0]+=1 rm -rf x",
    "A=$(rm -rf x)",
    "'rm' -rf x",
    '"rm" -rf x',
    "r'm' -rf x",
    'r""m -rf x',
    "\\rm -rf x",
    "r\\m -rf x",
    "r\\\nm -rf x",
    "/bin/rm -rf x",
    "../../bin/rm -rf x",
    "sudo rm -rf x",
    "sudo -u root rm -rf x",
    "env A=1 rm -rf x",
    "nohup nice -n 5 rm -rf x",
    "timeout 5 rm -rf x",
    "find . -name y -exec rm -rf x ;",
    "ls | xargs rm -rf",
    "command rm -rf x",
    "! rm -rf x",
    "if true; then rm -rf x; fi",
    "for f in a b; do rm -rf x; done",
    "while rm -rf x; do :; done",
    "sh -c 'rm -rf x'",
    'bash -lc "rm -rf x"',
    "bash -c 'ls; rm -rf x'",
    "sh -c \"sh -c 'rm -rf x'\"",
    "sudo sh -c 'rm -rf x'",
    "eval rm -rf x",
    "eval 'rm -rf x'",
    "echo 'rm -rf x' | sh",
    "echo rm -rf x | bash",
    "bash <<< 'rm -rf x'",
    "bash <<EOF\nrm -rf x\nEOF",
    "ls # it's\nrm -rf x # '",
    "ls 'unclosed\nrm -rf x",
    "ls $'\\''; rm -rf x #'",
    "ls >&2 && rm -rf x",
    "ls 2>&1;rm -rf x",
    "ls > out; rm -rf x",
    "> out rm -rf x",
    "2>/dev/null rm -rf x",
    "case x in x) rm -rf x;; esac",
    "f() { rm -rf x; }; f",
    // What these run is known only after expansion by the shell.
    "x=rm; $x -rf x",
    "$(echo rm) -rf x",
    "`echo rm` -rf x",
    "r?m -rf x",
    "/bin/r* -rf x",
    "{rm,-rf,x}",
    "rm${IFS}-rf${IFS}x",
    "$'rm' -rf x",
  ];
  it.each(hidden)("SEC5: Bash(rm *) finds %j", (command) => {
    expect(findHit([parseRule("Bash(rm *)")], "Bash", bash(command))).toBeDefined();
  });

  it.each([
    "git commit -m 'rm -rf x'",
    'git commit -m "a; rm -rf x"',
    "echo rm -rf x",
    "grep 'rm ' file | sort",
    "ls *.txt",
    "echo $HOME && [ -f x ] && cat y",
    "find . -name '*.ts' | xargs grep x",
    "make 2>&1 | tee log",
    "npm test",
  ])("Bash(rm *) does not match %j", (command) => {
    expect(findHit([parseRule("Bash(rm *)")], "Bash", bash(command))).toBeUndefined();
  });

  const sly: readonly Case[] = [
    ["Bash(rm *)", "Bash", { command: ["sh", "-c", "rm -rf x"] }, true],
    ["Bash(rm *)", "Bash", { cmd: "rm -rf x" }, true],
    ["Bash(rm *)", "Bash", { script: "ls; rm -rf x" }, true],
    ["Bash(rm *)", "Bash", { note: "x", script: "rm -rf x" }, true],
    ["shell(rm *)", "shell", "ls; rm -rf x", true],
    ["Search(secret*)", "Search", { command: "x", query: "secret" }, true],
    ["Say(hello*)", "Say", { other: "x", phrase: "hello" }, true],
    ["Read(/etc/*)", "Read", { file_path: "/etc//passwd" }, true],
    ["Read(/etc/*)", "Read", { file_path: "/tmp/../etc/passwd" }, true],
    ["Read(/etc/*)", "Read", { file_path: "/./etc/passwd" }, true],
    ["Read(/etc/*)", "Read", { path: "/etc/passwd" }, true],
    ["Read(//etc/*)", "Read", { file_path: "/etc/passwd" }, true],
    ["Read(./secrets/*)", "Read", { file_path: "secrets/x" }, true],
    ["Read(secrets/*)", "Read", { file_path: "./a/../secrets/x" }, true],
    ["Fetch(https://evil.com/*)", "Fetch", { url: "HTTPS://EVIL.com/x" }, true],
    ["Fetch(https://evil.com/*)", "Fetch", { url: " https://evil.com:443/x" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://EVIL.com./x" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "https://good.com@evil.com/" }, true],
    ["WebFetch(domain:evil.com)", "WebFetch", { url: "not a url" }, true],
  ];
  it.each(sly)("SEC5: %s and %s %j: %s", (rule, tool, input, matches) => {
    expect(findHit([parseRule(rule)], tool, input) !== undefined).toBe(matches);
  });
});

describe("rules that allow", () => {
  const cases: readonly Case[] = [
    ["Bash", "Bash", bash("rm -rf /; ls"), true],
    ["Bash(*)", "Bash", bash("rm -rf /; ls"), true],
    ["Bash(git *)", "Bash", bash("git status"), true],
    ["Bash(git *)", "Bash", bash("git commit -m 'a; b'"), true],
    ["Bash(git *)", "Bash", bash("git status && git log"), true],
    ["Bash(git *)", "Bash", bash("git log 2>&1 | git hash-object --stdin 2>/dev/null"), true],
    ["Bash(git *)", "Bash", bash("git log $(git rev-parse HEAD)"), true],
    ["Bash(git *)", "Bash", bash("git"), false],
    ["Bash(git:*)", "Bash", bash("git"), true],
    ["Bash(git:*)", "Bash", bash("git log"), true],
    ["Bash(git:*)", "Bash", bash("gitx"), false],
    ["Bash(touch f && ls)", "Bash", bash("touch f && ls"), true],
    ["Bash(npm test)", "Bash", bash("npm  test"), true],
    ["Bash(git *)", "Bash", bash("git status; rm x"), false],
    ["Bash(git *)", "Bash", bash("git status && rm x"), false],
    ["Bash(git *)", "Bash", bash("git status || rm x"), false],
    ["Bash(git *)", "Bash", bash("git status | sh"), false],
    ["Bash(git *)", "Bash", bash("git status & rm x"), false],
    ["Bash(git *)", "Bash", bash("git status\nrm x"), false],
    ["Bash(git *)", "Bash", bash("git log $(rm x)"), false],
    ["Bash(git *)", "Bash", bash('git log "$(rm x)"'), false],
    ["Bash(git *)", "Bash", bash("git log `rm x`"), false],
    ["Bash(git *)", "Bash", bash("git diff <(rm x)"), false],
    ["Bash(git *)", "Bash", bash("(git status; rm x)"), false],
    ["Bash(git *)", "Bash", bash("LD_PRELOAD=./x.so git status"), false],
    ["Bash(git *)", "Bash", bash("git log > ~/.bashrc"), false],
    ["Bash(git *)", "Bash", bash("git log >$HOME/x"), false],
    ["Bash(git *)", "Bash", bash("git log # it's\nrm x #'"), false],
    ["Bash(git *)", "Bash", bash("git log 'open"), false],
    ["Bash(git *)", "Bash", bash("git log <<E\n$(rm x)\nE"), false],
    ["Bash(git *)", "Bash", bash("$X git log"), false],
    ["Bash(git *)", "Bash", bash("/tmp/git log"), false],
    ["Bash(git *)", "Bash", bash(""), false],
    ["Bash(git *)", "Bash", { command: "git log", path: "/etc" }, false],
    ["Bash(git *)", "Bash", {}, false],
    ["Read(/work/*)", "Read", { file_path: "/work/a.ts" }, true],
    ["Read(/work/*)", "Read", { file_path: "/work/../etc/passwd" }, false],
    ["Read(/work/*)", "Read", { file_path: "/work/./../etc/passwd" }, false],
    ["Read(src/*)", "Read", { file_path: "src/../../etc/passwd" }, false],
    ["Read(./src/*)", "Read", { file_path: "src/a.ts" }, true],
    ["Read(ok)", "Read", { command: "ok", path: "/etc/passwd" }, false],
    ["Fetch(https://good.com/*)", "Fetch", { url: "https://good.com/x" }, true],
    ["Fetch(https://good.com/*)", "Fetch", { url: "https://good.com.evil.com/x" }, false],
    ["WebFetch(domain:good.com)", "WebFetch", { url: "https://docs.good.com/x" }, true],
    ["WebFetch(domain:good.com)", "WebFetch", { url: "https://good.com@evil.com/x" }, false],
    ["WebFetch(domain:good.com)", "WebFetch", { url: "nonsense" }, false],
    ["Say(hello*)", "Say", { phrase: "hello" }, true],
    ["Say(hello*)", "Say", { phrase: "hello", other: "x" }, false],
  ];
  it.each(cases)("SEC5: %s and %s %j: %s", (rule, tool, input, matches) => {
    expect(findAllowing([parseRule(rule)], tool, input) !== undefined).toBe(matches);
  });

  it("several rules together allow commands joined together", () => {
    const rules = ["Bash(git *)", "Bash(npm *)"].map(parseRule);
    expect(findAllowing(rules, "Bash", bash("git add . && npm test"))).toHaveLength(2);
    expect(findAllowing(rules, "Bash", bash("git add . && npm test && rm x"))).toBeUndefined();
  });
});

describe("rules and any input", () => {
  const rules = ["Bash(rm *)", "Bash(git:*)", "*(a*b*c)", "WebFetch(domain:x.y)", "mcp__*"].map(parseRule);
  const shellText = fc.string({
    unit: fc.constantFrom(
      "rm",
      " ",
      ";",
      "&",
      "|",
      "$(",
      ")",
      "(",
      "`",
      "'",
      '"',
      "\\",
      "\n",
      "<",
      ">",
      "#",
      "{",
      "$x",
      "sh",
    ),
    maxLength: 40,
  });

  it("never throw", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("Bash", "WebFetch", "Say"),
        fc.oneof(fc.jsonValue(), shellText.map(bash)),
        (name, input) => {
          findHit(rules, name, input);
          findAllowing(rules, name, input);
        },
      ),
      { numRuns: fuzzRuns(3_000) },
    );
  });

  it("SEC5: a command after a separator is found, whatever balanced text precedes it", () => {
    const word = fc.stringMatching(/^[a-z0-9 ./=-]{0,12}$/);
    const quoted = fc.tuple(word, fc.constantFrom("'", '"')).map(([text, quote]) => `${quote}${text}${quote}`);
    const before = fc.array(fc.oneof(word, quoted), { maxLength: 4 }).map((parts) => parts.join(" "));
    const separator = fc.constantFrom(";", "&&", "||", "|", "\n", "&", " ; ", "$(", "`");
    fc.assert(
      fc.property(before, separator, (start, by) => {
        expect(findHit(rules, "Bash", bash(`echo ${start}${by}rm -rf x`))).toBeDefined();
      }),
      { numRuns: fuzzRuns(2_000) },
    );
  });

  it("an allow rule never allows what a deny rule with the same pattern would not match", () => {
    const rule = [parseRule("Bash(rm *)")];
    fc.assert(
      fc.property(shellText, (command) => {
        if (findAllowing(rule, "Bash", bash(command))) expect(findHit(rule, "Bash", bash(command))).toBeDefined();
      }),
      { numRuns: fuzzRuns(3_000) },
    );
  });

  it("handle long inputs", () => {
    const size = 60_000;
    for (const piece of [
      "a",
      "$(",
      "(",
      "`",
      "'",
      '"',
      "sudo ",
      "sh ",
      "bash -c '",
      ";",
      "\\",
      "<",
      "{",
      "/",
      "../",
      "x=y ",
      "{ ",
      "{a,",
      "[a",
      "PAGER=x ",
      "eval 'a' ",
      "xargs -I ",
      "find -exec ",
      "git -c a=b ",
      "sed s/a/b/e ",
      "a -b c ",
      "$'\\",
    ]) {
      const text = piece.repeat(size / piece.length);
      expect(() => findHit(rules, "Bash", bash(text))).not.toThrow();
      expect(() => findAllowing(rules, "Bash", { command: text, path: text, url: text })).not.toThrow();
    }
  });
});

describe("rules that cannot be parsed", () => {
  it.each(["", " ", "(x)", "Bash(", "Bash(x", "Bash()", "Bash( )", "Ba sh", "Bash)x", "Bash(x) y", "x".repeat(3_000)])(
    "%j is refused with a remedy",
    (rule) => {
      expect(() => parseRule(rule)).toThrowError(
        expect.objectContaining({
          code: "invalid-option",
          message: expect.stringMatching(/rule .* cannot be read\. \w/s),
        }),
      );
    },
  );
});

describe("F-A11: the subject of a call may be in a list or nested", () => {
  const DENIED: readonly unknown[] = [
    { paths: ["public/x", "private/a.txt"] },
    { files: [{ path: "private/a.txt" }] },
    { edits: [{ file_path: "private/a.txt", text: "x" }] },
    { file_path: ["private/a.txt"] },
    { file_path: { of: "private/a.txt" } },
    { file_path: "public/x", files: ["private/a.txt"] },
    { requests: [{ filePath: "private/a.txt" }] },
    { batch: { items: [{ filename: "private/a.txt" }] } },
  ];

  it.each(DENIED)("Read(private/*) is not bypassed by %j", (input) => {
    expect(findHit([parseRule("Read(private/*)")], "Read", input)).toBeDefined();
  });

  it.each(DENIED)("Read(public/*) does not allow %j", (input) => {
    expect(findAllowing([parseRule("Read(public/*)")], "Read", input)).toBeUndefined();
  });

  it("a list of commands is read as such, a list of words as one command", () => {
    const rules = [parseRule("Batch(rm *)")];
    expect(findHit(rules, "Batch", { commands: ["ls", "rm x"] })).toBeDefined();
    expect(findHit(rules, "Batch", { steps: [{ command: "ls; rm x" }] })).toBeDefined();
    expect(findHit(rules, "Batch", { command: ["echo", "rm x"] })).toBeUndefined();
  });

  it("texts that are not paths stay texts", () => {
    const rules = [parseRule("Write(private/*)")];
    expect(findHit(rules, "Write", { file_path: "public/x", content: "private/a.txt" })).toBeUndefined();
    expect(findHit(rules, "Write", { file_path: "public/x", notes: [{ text: "private/a.txt" }] })).toBeUndefined();
    expect(findAllowing([parseRule("Read(public/*)")], "Read", { paths: ["public/a", "public/b"] })).toBeDefined();
  });
});

describe("rules that allow", () => {
  it("do not allow together what none of them allows alone, except for joined commands", () => {
    const paths = [parseRule("Move(public/*)"), parseRule("Move(shared/*)")];
    expect(findAllowing(paths, "Move", { paths: ["public/a", "public/b"] })).toBeDefined();
    expect(findAllowing(paths, "Move", { paths: ["public/a", "shared/b"] })).toBeUndefined();
    const commands = [parseRule("Bash(ls *)"), parseRule("Bash(cat *)")];
    expect(findAllowing(commands, "Bash", bash("ls a; cat b"))).toBeDefined();
  });
});

describe("a tool with other names", () => {
  it.each(["deny", "ask", "allow"] as const)("rules of %s that use one of them are about it", (kind) => {
    const rules = rulesFor(readRules([{ [kind]: ["Task"] }]), { name: "Agent", otherNames: ["Task"] });
    expect(findHit(rules[kind], "Agent", {})?.isCertain).toBe(true);
    expect(findHit(rules[kind], "Read", {})).toBeUndefined();
  });
});
