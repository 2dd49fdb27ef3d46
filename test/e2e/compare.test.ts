import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ComparisonReport } from "#compare";
import { createEmulator } from "#emulator";
import { locateRealCli } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { runCli, startCli } from "./cli.ts";

let cwd = "";
beforeEach(() => {
  cwd = temporaryFolder("compare");
  writeFileSync(join(cwd, "prompts.json"), '["What is 25 + 17?", { "id": "hello", "prompt": "Say hello" }]');
});

const readReport = (folder = "comparison") =>
  JSON.parse(readFileSync(join(cwd, folder, "report.json"), "utf8")) as ComparisonReport;

describe("millrace compare", () => {
  it("S3-35 … 38: prints a table and a decision, writes one JSON and one HTML report", async () => {
    const { code, stdout, stderr } = await runCli(["compare", "prompts.json", "-b", "offline", "-b", "b=offline"], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/offline\s+b\n/);
    expect(stdout).toContain("Decision: stay with offline");
    expect(stdout).toContain("No difference between b and offline was found.");
    expect(stderr).toBe(`Report: ${join(cwd, "comparison", "report.html")}\n`);
    const report = readReport();
    expect(report).toMatchObject({ isComplete: true, repeat: 3, decision: { sampleSize: { offline: 6, b: 6 } } });
    const page = readFileSync(join(cwd, "comparison", "report.html"), "utf8");
    expect(page).toContain("<svg");
    expect(page).not.toMatch(/<script|https?:\/\//);
  });

  it("--json prints the report; --scorer, --sections of the file, --documents and --repeat count", async () => {
    writeFileSync(join(cwd, "prompts.json"), '{ "prompts": ["Say hello"], "sections": ["Scope"] }');
    writeFileSync(
      join(cwd, "mine.mjs"),
      "export default { name: 'mine', score: ({ text, document }) => document.text.length / 10 }",
    );
    const folder = temporaryFolder("documents");
    writeFileSync(join(folder, "a.txt"), "12345");
    const { stdout } = await runCli(
      [
        "compare",
        "prompts.json",
        "-b",
        "offline",
        "-b",
        "b=offline",
        "--json",
        "--scorer",
        "sections",
        "--scorer",
        "mine.mjs",
        "--documents",
        folder,
        "--repeat",
        "2",
      ],
      { cwd },
    );
    const report = JSON.parse(stdout) as ComparisonReport;
    expect(report.dimensions).toEqual(["sections", "mine"]);
    expect(report.targets[0]).toMatchObject({ answers: 2, scores: { mine: { mean: 0.5 }, sections: { mean: 0 } } });
    expect(report.samples[0]?.scores["sections"]?.detail).toBe("0 of 1 sections; missing: Scope");
  });

  it.each([
    [["compare"], 2, "<prompts>"],
    [["compare", "prompts.json"], 2, "--backend: give at least two, such as -b offline -b claude-code."],
    [["compare", "prompts.json", "-b", "offline"], 2, "--backend: give at least two"],
    [["compare", "prompts.json", "-b", "offline", "-b", "ofline"], 2, 'Did you mean "offline"?'],
    [["compare", "prompts.json", "-b", "offline", "-b", "openai/gpt-5"], 3, "OPENAI_API_KEY is not set"],
    [
      ["compare", "prompts.json", "-b", "offline", "-b", "x=offline", "--scorer", "consistancy"],
      2,
      "Did you mean consistency?",
    ],
    [["compare", "missing.json", "-b", "offline", "-b", "x=offline"], 2, "missing.json: the file cannot be read"],
    [
      ["compare", "bad.json", "-b", "offline", "-b", "x=offline"],
      2,
      "bad.json is not JSON: a field's name in quotes is due here (line 1, column 2). Write [",
    ],
    [["compare", "odd.json", "-b", "offline", "-b", "x=offline"], 2, 'the field "prompt" is not known'],
    [
      ["compare", "prompts.json", "-b", "offline", "-b", "claude-code,mode=plian"],
      2,
      "mode=plain, mode=control or mode=auto",
    ],
    [
      ["compare", "prompts.json", "-b", "offline", "-b", "x=offline", "--documents", "none"],
      2,
      "--documents none: there is no file",
    ],
    [
      ["compare", "prompts.json", "-b", "offline", "-b", "x=offline", "--baseline", "y"],
      2,
      '--baseline is "y". Give one of: offline, x.',
    ],
    [
      ["compare", "prompts.json", "-b", "offline", "-b", "x=offline", "--documents", "documents"],
      2,
      "--documents documents: nothing.txt is empty.",
    ],
  ])("bad input is named with the remedy, and nothing is written: %j", async (args, code, message) => {
    writeFileSync(join(cwd, "bad.json"), "{");
    writeFileSync(join(cwd, "odd.json"), '{ "prompts": ["a"], "prompt": 1 }');
    mkdirSync(join(cwd, "documents"));
    writeFileSync(join(cwd, "documents", "nothing.txt"), "\n");
    const left = await runCli(args, { cwd });
    expect(left.stderr).toContain(message);
    expect(left).toMatchObject({ code, stdout: "" });
    expect(existsSync(join(cwd, "comparison"))).toBe(false);
  });

  it("a backend that fails on every prompt is excluded with the reason, and tried once", async () => {
    const { code, stdout } = await runCli(["compare", "prompts.json", "-b", "offline", "-b", "claude-code"], {
      cwd,
      env: { PATH: "/nowhere" },
    });
    expect(code, "one backend alone is not a comparison").toBe(1);
    expect(stdout).toContain("claude-code is excluded: all 6 runs failed: The Claude Code CLI was not found");
    const page = readFileSync(join(cwd, "comparison", "report.html"), "utf8");
    for (const text of [stdout, page]) {
      expect(text, "F-F: advice fits the shell").toContain("or give its path with --claude-executable.");
      expect(text).not.toContain("or set executable");
    }
  });

  it("Ctrl-C keeps what is finished; the same command continues", async () => {
    const emulator = createEmulator({
      script: { rules: [{ match: { model: "slow", user: "hello" }, reply: { text: "x", delayMs: 600_000 } }] },
    });
    const { url } = await emulator.listen();
    try {
      const env = { OPENAI_API_KEY: "offline", OPENAI_BASE_URL: `${url}/v1` };
      const args = [
        "compare",
        "prompts.json",
        "-b",
        "offline",
        "-b",
        "openai/slow",
        "--repeat",
        "1",
        "--concurrency",
        "1",
      ];
      const cli = startCli(args, { cwd, env });
      await waitFor(() => countLines(join(cwd, "comparison", "comparison.ndjson")) >= 1 + 2);
      cli.child.kill("SIGINT");
      const left = await cli.left;
      expect(left.code).toBe(130);
      expect(left.stderr).toMatch(/^Interrupted: \d answers are missing\. Run the same command again to go on\.$/m);
      expect(readReport()).toMatchObject({ isComplete: false, decision: { verdict: "undecided" } });
      await emulator.close();
      const quick = createEmulator();
      const listening = await quick.listen();
      const again = await runCli(args, { cwd, env: { ...env, OPENAI_BASE_URL: `${listening.url}/v1` } });
      await quick.close();
      expect(again.code).toBe(0);
      expect(again.stderr).toMatch(/^Going on: [23] of 4 answers are there already\.\n/);
      expect(readReport()).toMatchObject({ isComplete: true });
    } finally {
      await emulator.close();
    }
  });

  it.skipIf(locateRealCli() === undefined)("S3-35: an API and the real CLI in both modes, side by side", async () => {
    const emulator = createEmulator();
    const { url } = await emulator.listen();
    try {
      const { code, stdout } = await runCli(
        [
          ...["compare", "prompts.json", "--repeat", "1", "--json", "--claude-executable", locateRealCli() ?? ""],
          ...[
            "-b",
            "api=anthropic/claude-sonnet-4-6",
            "-b",
            "control=claude-code,mode=control",
            "-b",
            "cli=claude-code,mode=plain",
          ],
        ],
        { cwd, env: { HOME: cwd, ANTHROPIC_API_KEY: "offline", ANTHROPIC_BASE_URL: url } },
      );
      expect(code).toBe(0);
      const report = JSON.parse(stdout) as ComparisonReport;
      expect(report.targets.map(({ name, answers, failed }) => ({ name, answers, failed }))).toEqual(
        ["api", "control", "cli"].map((name) => ({ name, answers: 2, failed: 0 })),
      );
    } finally {
      await emulator.close();
    }
  });
});

function countLines(path: string): number {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

/** Looks every 20 ms; the test's own time is the bound. */
async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}
