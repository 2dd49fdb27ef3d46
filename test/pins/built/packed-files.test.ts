import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";

const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: ROOT,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(packed);
const paths = files.map((file) => file.path);

describe("the packed files", () => {
  it("SEC22: are the build, the executable and the papers, and nothing else", () => {
    const isPage = (path: string) => /^dist\/web\/(index\.html|icon\.svg|assets\/index-[\w-]+\.(js|css))$/.test(path);
    const besides = paths.filter((path) => !/^dist\/[a-z0-9/-]+\.(js|d\.ts)$/.test(path) && !isPage(path));
    expect(besides.sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "bin/millrace.js", "package.json"]);
  });

  it("hold every entry of the export map and the executable", () => {
    for (const folder of ["", "formats/", "views/", "testing/", "server/"]) {
      expect(paths).toContain(`dist/${folder}index.js`);
      expect(paths).toContain(`dist/${folder}index.d.ts`);
    }
    expect(paths).toContain("dist/cli/main.js");
    expect(paths).toContain("dist/web/index.html");
  });

  it("hold no test and no fixture", () => {
    expect(paths.filter((path) => /test\.|fixture|\.tsbuildinfo/.test(path))).toEqual([]);
  });
});
