import { describe, expect, it } from "vitest";
import { judge } from "./verdict.mjs";

const SKIPPED = { title: "serves behind nginx", why: "nginx is missing" };

describe("the verdict of npm test", () => {
  it.each([
    {
      name: "all passed",
      status: 0,
      passed: 3,
      failed: 0,
      skipped: [],
      ci: false,
      last: "3 passed, 0 failed",
      exitCode: 0,
    },
    {
      name: "one failed",
      status: 1,
      passed: 2,
      failed: 1,
      skipped: [],
      ci: false,
      last: "2 passed, 1 failed",
      exitCode: 1,
    },
    {
      name: "one skipped",
      status: 0,
      passed: 2,
      failed: 0,
      skipped: [SKIPPED],
      ci: false,
      last: "2 passed, 0 failed, 1 skipped",
      exitCode: 0,
    },
    {
      name: "one skipped on a build machine",
      status: 0,
      passed: 2,
      failed: 0,
      skipped: [SKIPPED],
      ci: true,
      last: "2 passed, 0 failed, 1 skipped",
      exitCode: 1,
    },
    {
      name: "vitest failed though nothing it counted did",
      status: 1,
      passed: 2,
      failed: 0,
      skipped: [],
      ci: false,
      last: "2 passed, 1 failed",
      exitCode: 1,
    },
    {
      name: "nothing ran",
      status: 0,
      passed: 0,
      failed: 0,
      skipped: [],
      ci: false,
      last: "0 passed, 1 failed",
      exitCode: 1,
    },
  ])("$name: $last, exit code $exitCode", ({ status, passed, failed, skipped, ci, last, exitCode }) => {
    const verdict = judge({ status, tally: { passed, failed, skipped }, ci });
    expect(verdict.lines.at(-1)).toBe(last);
    expect(verdict.exitCode).toBe(exitCode);
  });

  it("a skipped test has a visible line with its reason", () => {
    const { lines } = judge({ status: 0, tally: { passed: 1, failed: 0, skipped: [SKIPPED] }, ci: false });
    expect(lines).toContain("[SKIP] serves behind nginx: nginx is missing");
  });

  it("a run that broke off is a failure", () => {
    const { lines, exitCode } = judge({ status: null, tally: undefined, ci: false });
    expect(lines.at(-1)).toBe("0 passed, 1 failed");
    expect(exitCode).toBe(1);
  });
});
