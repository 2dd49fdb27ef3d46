import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe } from "vitest";
import type { Run } from "#run";
import type { RunResult } from "#domain";
import { type GatedFeature, hasFeature } from "../src/backends/claude-code/features.ts";
import { parseVersion } from "../src/backends/claude-code/version.ts";
import { isQuick } from "./effort.ts";

/**
 * The program of the real Claude Code CLI: the one `MILLRACE_TEST_CLI` names, so that the suites can be run against any
 * version; else the dev dependency, if it is installed for this platform.
 */
export function locateRealCli(): string | undefined {
  const named = process.env["MILLRACE_TEST_CLI"];
  if (named !== undefined && named !== "") return named;
  try {
    const require = createRequire(import.meta.url);
    const cli = require.resolve("@anthropic-ai/claude-code/package.json");
    const path = createRequire(cli).resolve(
      `@anthropic-ai/claude-code-${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(path), process.platform === "win32" ? "claude.exe" : "claude");
  } catch {
    return undefined;
  }
}

/** Whether the real CLI is new enough for a feature. One whose version cannot be read is. */
export function realCliHas(feature: GatedFeature): boolean {
  const executable = locateRealCli();
  if (executable === undefined) return false;
  version ??= parseVersion(spawnSync(executable, ["--version"], { encoding: "utf8" }).stdout);
  return version === undefined || hasFeature(version, feature);
}

let version: ReturnType<typeof parseVersion>;

/** How the real CLI is started in tests: our tools and deltas go together only with newer versions. */
export function realCliOptions(): { readonly executable: string; readonly includePartialMessages?: boolean } {
  const executable = locateRealCli() ?? "claude";
  return realCliHas("streaming-tools") ? { executable } : { executable, includePartialMessages: false };
}

/** The result of a run, when nothing of the run is left: a CLI may still write to its home after `done`. */
export async function closedResult(run: Pick<Run<unknown>, "result" | "closed">): Promise<RunResult> {
  const result = await run.result();
  await run.closed;
  return result;
}

/** `describe` for scenes with the real CLI that belong to the full set only: in the quick set they are not there. */
export function describeRealCli(name: string, define: () => void, needs?: GatedFeature): void {
  if (isQuick) return;
  describe.runIf(needs === undefined ? locateRealCli() !== undefined : realCliHas(needs))(name, define);
}
