import { execFileSync } from "node:child_process";
import { dirname, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";
import { readDocument } from "../markdown.ts";

const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: ROOT,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
const [{ files }]: [{ files: { path: string; size: number }[] }] = JSON.parse(packed);
const paths = files.map((file) => file.path);

describe("the packed files", () => {
  it("SEC22: are the build, the executable, the papers and the files for deployments, and nothing else", () => {
    const isPage = (path: string) => /^dist\/web\/(index\.html|icon\.svg|assets\/index-[\w-]+\.(js|css))$/.test(path);
    const besides = paths.filter((path) => !/^dist\/[a-z0-9/-]+\.(js|js\.map|d\.ts)$/.test(path) && !isPage(path));
    const papers = /^(docs\/[\w/.-]+|[A-Z]+)\.md$|^docs\/pictures\/\w+\.(svg|png)$|^examples\/[\w-]+\.ts$/;
    const deploy = ["deploy/compose.yaml", "deploy/grafana-dashboard.json", "deploy/kubernetes.yaml"];
    const others = ["LICENSE", "bench/results/latest.md", "bin/millrace.js", ...deploy, "package.json"];
    expect(besides.filter((path) => !papers.test(path)).sort()).toEqual(others);
  });

  it("hold every entry of the export map and the executable", () => {
    for (const folder of ["", "formats/", "views/", "testing/", "server/"]) {
      expect(paths).toContain(`dist/${folder}index.js`);
      expect(paths).toContain(`dist/${folder}index.d.ts`);
    }
    expect(paths).toContain("dist/cli/main.js");
    expect(paths).toContain("dist/web/index.html");
  });

  it("F: hold what their documents link to, so that links work in an installed package", () => {
    const dead = paths
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) => {
        const prose = readDocument(path).replaceAll(/```.*?```/gs, "");
        const links = [...prose.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g)].map((match) => match[1] ?? "");
        const targets = links.map((link) => posix.normalize(posix.join(dirname(path), link)).replace(/\/$/, ""));
        const isThere = (target: string) => paths.some((file) => file === target || file.startsWith(`${target}/`));
        return targets.filter((target) => !isThere(target)).map((target) => `${path} -> ${target}`);
      });
    expect(dead).toEqual([]);
  });

  it("F: pictures are small", () => {
    const pictures = files.filter(({ path }) => path.startsWith("docs/pictures/"));
    expect(pictures.length).toBeGreaterThan(1);
    for (const { path, size } of pictures) expect(size, path).toBeLessThan(150_000);
  });

  it("hold no test and no fixture", () => {
    expect(paths.filter((path) => /^test\/|\.test\.|fixture|\.tsbuildinfo/.test(path))).toEqual([]);
  });
});
