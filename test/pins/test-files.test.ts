import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { ALONE, BUILT, FULL, isIn, listTests, SHARED, STRONGER } from "../../scripts/test-sets.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

const FILES = ["test", "src", "scripts", "web/src"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => (folder === "test" ? file.endsWith(".ts") : file.endsWith(".test.ts"))),
);
const TESTS = listTests();

/** They make or remove folders by themselves, for a reason. */
const EXEMPT = [
  // The helper.
  "test/temporary-folder.ts",
  // A draft that is renamed to its place in the cache.
  "test/nodes/install-node.ts",
  // Names what it refuses.
  "test/pins/test-files.test.ts",
];

describe("temporary folders", () => {
  it("come from test/temporary-folder.ts, which removes them although a process may still write to them", () => {
    const own = FILES.filter(
      (file) => !EXEMPT.includes(file) && /mkdtemp|rmSync\([^)]*recursive/.test(readFileSync(join(ROOT, file), "utf8")),
    );
    expect(own, "use temporaryFolder, makeFolder or removeFolder").toEqual([]);
    expect(FILES.length).toBeGreaterThan(200);
  });
});

/** Which files vitest runs in which projects, at this effort. */
function listFiles(effort: string): ReadonlyMap<string, readonly string[]> {
  const path = join(temporaryFolder("list"), "files.json");
  spawnSync(
    process.execPath,
    [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "list", "--filesOnly", `--json=${path}`],
    { cwd: ROOT, env: { ...process.env, MILLRACE_EFFORT: effort } },
  );
  const listed = JSON.parse(readFileSync(path, "utf8")) as { file: string; projectName: string }[];
  const projects = new Map<string, string[]>();
  for (const { file, projectName } of listed) {
    const name = file.slice(ROOT.length);
    projects.set(name, [...(projects.get(name) ?? []), projectName]);
  }
  return projects;
}

describe("the sets of tests (scripts/test-sets.mjs)", () => {
  it("every test file is in the quick set or in the full set, and in one of them only", () => {
    const projects = listFiles("quick");
    expect([...projects.keys()].sort()).toEqual([...TESTS].sort());
    expect([...projects].filter(([, names]) => names.length !== 1)).toEqual([]);
    const quick = TESTS.filter((file) => ["unit", "parts", "built"].includes(projects.get(file)?.[0] ?? ""));
    expect(quick.filter((file) => isIn(file, [...FULL, ...ALONE]))).toEqual([]);
    expect(TESTS.filter((file) => !quick.includes(file) && !isIn(file, [...FULL, ...ALONE]))).toEqual([]);
  });

  it("with all effort, those that are stronger then are in the full set as well", () => {
    const twice = [...listFiles("full")].filter(([, names]) => names.length > 1);
    expect(twice.map(([file]) => file).sort()).toEqual([...STRONGER].sort());
    for (const [file, names] of twice) expect(names).toContain(file.startsWith("src/") ? "properties" : "full");
  });

  it("the helpers that ask for the effort are those that scripts/test-sets.mjs looks for", () => {
    const helpers = FILES.filter((file) => !TESTS.includes(file)).filter((file) =>
      /effort\.ts"/.test(readFileSync(join(ROOT, file), "utf8")),
    );
    expect(helpers.map((file) => basename(file)).sort()).toEqual(["real-cli.ts", "targets.ts"]);
    expect(STRONGER).toEqual(expect.arrayContaining(["test/conformance/ends.test.ts", "src/wire/ndjson.test.ts"]));
  });

  it("every entry names something", () => {
    for (const path of [...SHARED, ...BUILT, ...ALONE, ...FULL]) {
      expect(
        TESTS.some((file) => isIn(file, [path])),
        path,
      ).toBe(true);
    }
  });
});
