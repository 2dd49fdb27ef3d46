// Which test files `npm test` runs (quick) and which only `npm run test:full` runs. A path that ends with "/" is a folder.

/**
 * Files that share a process: they hold no state, start next to nothing, and importing the sources anew for each of them takes longer than
 * their tests.
 */
export const SHARED = [
  "src/",
  "web/src/",
  "test/command-line/",
  "test/compare/",
  "test/conformance/",
  "test/emulator/",
  "test/formats/",
  "test/policy/",
  "test/secrets/",
  "test/sessions/",
  "test/tapes/",
  "test/types/",
];

/** They look at `dist`, which is built before. */
export const BUILT = ["test/pins/built/", "test/e2e/", "test/nodes/", "test/web/"];

/** They measure the machine or take all of it: after everything else, one at a time. */
export const ALONE = ["test/alone/"];

/**
 * Only in the full set: they need a program that npm does not bring (a browser, proxies, another Node), repeat what a static check
 * looks at, or start the real CLI very often.
 */
export const FULL = [
  // Programs from elsewhere.
  "test/web/",
  "test/nodes/",
  "test/server/proxies.test.ts",
  // A type check, a lint run or a reading of the import graph of their own.
  "test/pins/snippets.test.ts",
  "test/pins/api-examples.test.ts",
  "test/pins/lint.test.ts",
  "test/pins/layers.test.ts",
  "test/pins/built/documents.test.ts",
  "test/pins/built/packed-files.test.ts",
  "scripts/api-reference.test.ts",
  // The real CLI, many times.
  "test/backends/claude-code-isolation.test.ts",
  "test/backends/claude-code-stop.test.ts",
  "test/claude-code/foreign-text.test.ts",
  "test/claude-code/real-cli.test.ts",
  "test/claude-code/real-messages.test.ts",
  "test/conformance/real-cli-options.test.ts",
  "test/emulator/claude-code.test.ts",
  "test/hostile-repository/everything.test.ts",
  "test/policy/claude-code.test.ts",
  "test/server/threads-resume.test.ts",
  "test/swarm/",
  "test/tapes/claude-code.test.ts",
  // Real processes, many times.
  "test/claude-code/faults.test.ts",
  "test/e2e/commands.test.ts",
  "test/e2e/compare.test.ts",
  "test/e2e/examples.test.ts",
  "test/transports/watchdog.test.ts",
];

/** In the quick set with a part of their scenes (test/effort.ts), and in the full set with all of them. */
export const STRONGER = [
  "test/command-line/failures.test.ts",
  "test/claude-code/limits.test.ts",
  "test/conformance/agent-tool.test.ts",
  "test/conformance/call-order.test.ts",
  "test/conformance/ends.test.ts",
  "test/conformance/final-text.test.ts",
  "test/conformance/input-left-out.test.ts",
  "test/conformance/options.test.ts",
  "test/conformance/output-libraries.test.ts",
  "test/conformance/output-values.test.ts",
  "test/conformance/own-messages.test.ts",
  "test/conformance/reply-bytes.test.ts",
  "test/conformance/session-controls.test.ts",
  "test/conformance/stop-reasons-elsewhere.test.ts",
  "test/conformance/tool-calls.test.ts",
  "test/conformance/tool-reports.test.ts",
  "test/e2e/server-kill.test.ts",
  "test/policy/paths-on-backends.test.ts",
  "test/secrets/claude-code.test.ts",
  "test/server/chaos.test.ts",
  "test/server/sockets.test.ts",
  "test/simulation/simulation.test.ts",
  "test/tapes/answers-ends.test.ts",
  "test/tapes/answers.test.ts",
  "test/torture/torture.test.ts",
  "test/transports/stop.test.ts",
];

/** @param {readonly string[]} paths */
export function patternsOf(paths) {
  return paths.map((path) => (path.endsWith("/") ? `${path}**/*.test.ts` : path));
}
