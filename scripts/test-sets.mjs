// Which test files `npm test` runs (quick) and which only `npm run test:full` runs. A path that ends with "/" is a
// folder.

import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { ROOT } from "./set-up.mjs";

/**
 * Files that share a process: they keep no state and start almost nothing, and importing the sources again for each of
 * them takes longer than their tests.
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

/** They use `dist`, which is built first. */
export const BUILT = ["test/pins/built/", "test/e2e/", "test/nodes/", "test/outside/", "test/web/"];

/** They measure the machine or use all of it: they run after everything else, one at a time. */
export const ALONE = ["test/alone/"];

/**
 * Only in the full set: they need a program that npm does not provide (a browser, proxies, another Node), repeat a
 * static check, or start the real CLI very often.
 */
export const FULL = [
  // External programs.
  "test/web/",
  "test/nodes/",
  "test/server/proxies.test.ts",
  "test/queues/",
  "test/postgres/operating.test.ts",
  "test/cluster/",
  // They run a type check, a lint run, a build or an analysis of the import graph.
  "scripts/set-up.test.ts",
  "test/conformance/unknown-options.test.ts",
  "test/pins/snippets.test.ts",
  "test/pins/api-examples.test.ts",
  "test/pins/lint.test.ts",
  "test/pins/layers.test.ts",
  "test/pins/built/documents.test.ts",
  "test/pins/built/packed-files.test.ts",
  "test/outside/",
  "scripts/api-reference.test.ts",
  // Megabytes, in every shape and on every backend or store.
  "test/conformance/large-replies.test.ts",
  "test/server/large-replies.test.ts",
  // The real CLI, many times.
  "test/backends/claude-code-isolation.test.ts",
  "test/backends/claude-code-stop.test.ts",
  "test/claude-code/foreign-text.test.ts",
  "test/claude-code/real-cli.test.ts",
  "test/claude-code/real-messages.test.ts",
  "test/conformance/real-cli-options.test.ts",
  "test/durability/real-cli.test.ts",
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
  "test/e2e/upgrade.test.ts",
  "test/e2e/kept-chat.test.ts",
  "test/daemons/",
  "test/transports/watchdog.test.ts",
];

/** Shows that a test file does less in the quick set: it imports test/effort.ts, or a helper that does. */
const ASKS_EFFORT = /effort\.ts"|describeRealCli|conformance\/targets\.ts"|from "\.\/targets\.ts"/;

/** In the quick set with some of their scenes, and in the full set with all of them. */
export const STRONGER = listTests().filter(
  (file) => !isIn(file, [...FULL, ...ALONE]) && ASKS_EFFORT.test(readFileSync(join(ROOT, file), "utf8")),
);

/** Every test file, by its path in the repository. */
export function listTests() {
  return ["scripts", "src", "test", "web/src"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => join(folder, file).split(sep).join("/")),
  );
}

/**
 * @param {string} file
 * @param {readonly string[]} paths files and folders
 */
export function isIn(file, paths) {
  return paths.some((path) => (path.endsWith("/") ? file.startsWith(path) : file === path));
}

/** @param {readonly string[]} paths */
export function patternsOf(paths) {
  return paths.map((path) => (path.endsWith("/") ? `${path}**/*.test.ts` : path));
}
