import { createRequire } from "node:module";
import { dirname, join } from "node:path";

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
