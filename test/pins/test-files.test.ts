import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";

const FILES = ["test", "src", "scripts", "web/src"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => (folder === "test" ? file.endsWith(".ts") : file.endsWith(".test.ts"))),
);

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
