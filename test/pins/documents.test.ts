import { type AgentEvent, ERROR_CODES, EVENT_FAMILIES, START_ERROR_CODES, WARNING_CODES } from "#domain";
import { assertRunLog } from "#testing";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFolders } from "../../scripts/layers.mjs";
import { ROOT } from "../../scripts/set-up.mjs";
import { listDocuments, readDocument, readFences } from "./markdown.ts";

describe("ARCHITECTURE.md", () => {
  const text = readDocument("ARCHITECTURE.md");

  it("is a map one can read in one go: at most 250 lines", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(250);
  });

  it.each(listFolders(ROOT))("has src/%s in its code map, with what it does not know", (folder) => {
    const row = text.split("\n").find((line) => line.startsWith(`| ${folder} | `));
    const cells = row?.split(" | ") ?? [];
    expect(cells).toHaveLength(5);
    for (const cell of cells) expect(cell.trim()).not.toBe("");
    expect(cells.at(-1)).toMatch(/^`src\//);
  });

  it.each(["delta", "question", "event"])("walks the life of a %s in at most 25 steps", (walked) => {
    const walk = text
      .split(/^## /m)
      .find((part) => part.startsWith(`Life of a ${walked}\n`) || part.startsWith(`Life of an ${walked}\n`));
    const steps = (walk ?? "").split("\n").filter((line) => /^\| \d+ \| `/.test(line));
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.length).toBeLessThanOrEqual(25);
  });

  it("names only files that exist", () => {
    const named = [...text.matchAll(/`((?:src|test|scripts|docs|web)\/[\w./-]+\.\w+)`/g)].map(
      (match) => match[1] ?? "",
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("S1-2: names, for every invariant, the test that holds it", () => {
    const invariants = text.split("\n").filter((line) => /^\| I\d+ \|/.test(line));
    expect(invariants.length).toBeGreaterThanOrEqual(8);
    for (const line of invariants) expect(line).toMatch(/`(src|test|scripts)\/[\w./-]+\.test\.ts`/);
  });
});

describe("README.md", () => {
  const fences = readFences("README.md");

  it("starts with the name and one sentence", () => {
    expect(readDocument("README.md")).toMatch(/^# Millrace\n\n[^\n]+\.\n/);
  });

  it("S0-105: shows a program of at most 15 lines first, and then its output", () => {
    const [, program, output] = fences;
    expect(program?.language).toBe("ts");
    expect(program?.text.trim().split("\n").length).toBeLessThanOrEqual(15);
    expect(output?.language).toBe("text");
  });
});

describe("CHANGELOG.md", () => {
  it("has what is coming on top", () => {
    expect(/^## \[?([^\]\n ]+)/m.exec(readDocument("CHANGELOG.md"))?.[1]).toBe("Unreleased");
  });
});

describe("docs/decisions", () => {
  const records = listDocuments().filter((path) => /^docs\/decisions\/\d{4}-/.test(path));

  it("every record is in the index, and is context, decision and consequence", () => {
    const index = readDocument("docs/decisions/README.md");
    for (const record of records) {
      expect(index).toContain(`(${record.replace("docs/decisions/", "")})`);
      expect(readDocument(record)).toMatch(/^## Context$.*^## Decision$.*^## Consequences?$/ms);
    }
  });
});

describe("links", () => {
  it.each(listDocuments())("of %s lead to files that exist", (document) => {
    const prose = readDocument(document).replaceAll(/```.*?```/gs, "");
    const targets = [...prose.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g)].map((match) => match[1] ?? "");
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(document), target)))).toEqual([]);
  });
});

describe("docs/README.md", () => {
  it("F: leads to every page", () => {
    const index = readDocument("docs/README.md");
    const pages = listDocuments().filter((path) => /^docs\/[\w-]+\.md$/.test(path) && path !== "docs/README.md");
    // For those who work on the sources: CONTRIBUTING.md leads there.
    const wanted = pages.filter((path) => path !== "docs/requirements.md");
    expect(wanted.filter((path) => !index.includes(`(${path.replace("docs/", "")})`))).toEqual([]);
  });
});

describe("docs/events.md", () => {
  it("shows a run that keeps every promise, with every event type in the table", () => {
    const [log] = readFences("docs/events.md").filter((fence) => fence.language === "jsonl");
    const events: AgentEvent[] = (log?.text ?? "")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(() => assertRunLog(events)).not.toThrow();
    for (const type of Object.keys(EVENT_FAMILIES)) expect(readDocument("docs/events.md")).toContain(`| \`${type}\` |`);
  });
});

describe("docs/errors.md", () => {
  it.each([...START_ERROR_CODES, ...ERROR_CODES, ...WARNING_CODES])("explains %s", (code) => {
    expect(readDocument("docs/errors.md")).toContain(`| \`${code}\` |`);
  });
});
