import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../test/temporary-folder.ts";
import { ROOT } from "./set-up.mjs";
import { judge } from "./verdict.mjs";

type Runs = Parameters<typeof judge>[0];

/** A run of tests a, b, c … with these results. */
function run(states: string, status: number | null = 0, errors = 0): Runs[number] {
  const names = { p: "passed", f: "failed", s: "skipped" } as const;
  const tests = [...states].map((state, at) => ({
    id: `file.test.ts > ${String.fromCharCode(97 + at)}`,
    state: names[state as keyof typeof names],
    why: { p: "", f: "expected 1 to be 2", s: "nginx is missing" }[state] ?? "",
  }));
  return { status, tally: { tests, errors: Array.from({ length: errors }, () => "It broke.") } };
}
const BROKEN: Runs[number] = { status: null, tally: undefined };

describe("the verdict of the tests", () => {
  it.each<[string, Runs, boolean, string, number]>([
    ["all passed", [run("ppp")], false, "3 passed, 0 failed", 0],
    ["one failed", [run("ppf", 1)], false, "2 passed, 1 failed", 1],
    ["one skipped", [run("pps")], false, "2 passed, 0 failed, 1 skipped", 0],
    ["one skipped on a build machine", [run("pps")], true, "2 passed, 0 failed, 1 skipped", 1],
    ["vitest failed though nothing it counted did", [run("pp", 1)], false, "2 passed, 1 failed", 1],
    ["a signal", [run("pp", null)], false, "2 passed, 1 failed", 1],
    ["an error outside any test", [run("pp", 1, 1)], false, "2 passed, 1 failed", 1],
    ["nothing ran", [run("")], false, "0 passed, 1 failed", 1],
    ["it broke off", [BROKEN], false, "0 passed, 1 failed", 1],
    ["two runs: a test of both counts once", [run("pp"), run("ppp")], true, "3 passed, 0 failed", 0],
    ["two runs: it failed with more effort", [run("pp"), run("fp", 1)], true, "1 passed, 1 failed", 1],
    ["two runs: it failed with less effort", [run("fp", 1), run("pp")], true, "1 passed, 1 failed", 1],
    ["two runs: what one skipped the other ran", [run("sp"), run("pp")], true, "2 passed, 0 failed", 0],
    ["two runs: the second broke off", [run("pp"), BROKEN], true, "2 passed, 1 failed", 1],
    ["two runs: the second ran nothing", [run("pp"), run("")], true, "2 passed, 1 failed", 1],
    ["no run at all", [], true, "0 passed, 1 failed", 1],
  ])("%s", (_, runs, ci, last, exitCode) => {
    const verdict = judge(runs, { ci });
    expect(verdict.lines.at(-1)).toBe(last);
    expect(verdict.exitCode).toBe(exitCode);
  });

  it("a skipped test has a visible line with its reason", () => {
    expect(judge([run("s")], { ci: false }).lines).toContain("[SKIP] file.test.ts > a: nginx is missing");
  });

  it("every failure has a line with its reason, next to the counts", () => {
    expect(judge([run("pf", 1, 1), run("pp")], { ci: true }).lines).toEqual([
      "[FAIL] outside any test: It broke.",
      "[FAIL] file.test.ts > b: expected 1 to be 2",
      "1 passed, 2 failed",
    ]);
  });
});

describe("scripts/add-up.mjs", () => {
  const addUp = (...paths: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "scripts", "add-up.mjs"), ...paths], {
      encoding: "utf8",
    });
    return { status, last: stdout.trim().split("\n").at(-1) };
  };

  it("adds up the records of several runs; one that is missing or torn is a failure", () => {
    const folder = temporaryFolder("add-up");
    const [quick, full, torn] = ["quick.json", "full.json", "torn.json"].map((name) => join(folder, name));
    writeFileSync(String(quick), JSON.stringify(run("pp")));
    writeFileSync(String(full), JSON.stringify(run("ppp")));
    writeFileSync(String(torn), '{ "status": 0, "ta');
    expect(addUp(String(quick), String(full))).toEqual({ status: 0, last: "3 passed, 0 failed" });
    expect(addUp(String(quick), String(torn))).toEqual({ status: 1, last: "2 passed, 1 failed" });
    expect(addUp(String(quick), join(folder, "nowhere.json"))).toEqual({ status: 1, last: "2 passed, 1 failed" });
  });
});
