import { describe, expect, it } from "vitest";
import type { Score, ScoredAnswer, Scorer } from "../types.ts";
import { acceptanceCriteria } from "./acceptance-criteria.ts";
import { consistency } from "./consistency.ts";
import { errorScenarios } from "./error-scenarios.ts";
import { plainTitle, readItems, readOutline } from "./outline.ts";
import { DOCUMENT_SECTIONS, sectionCompleteness } from "./sections.ts";

function scoreOf(scorer: Scorer, text: string): Score {
  return scorer.score({ text, prompt: "", result: {} } as unknown as ScoredAnswer) as Score;
}

describe("sectionCompleteness (S3-36)", () => {
  it("knows thirteen sections", () => expect(DOCUMENT_SECTIONS).toHaveLength(13));

  it("counts headings with something below them, whatever their level, numbering, emphasis and case", () => {
    const text =
      "# 1. EXECUTIVE SUMMARY\nText.\n## **2.1 Scope:**\n- in\n### III. Risks and mitigation\n| a |\n# Glossary\n\n# Empty end";
    const score = scoreOf(sectionCompleteness(), text);
    expect(score.value).toBeCloseTo(3 / 13, 12);
    expect(score.detail).toMatch(/^3 of 13 sections; missing: Business objectives, .*Glossary$/);
  });

  it("a section with only sub-sections counts as present", () => {
    const scorer = sectionCompleteness({ sections: ["Functional requirements"] });
    expect(scoreOf(scorer, "# Functional requirements\n## FR-1\ntext").value).toBe(1);
    expect(scoreOf(scorer, "# Functional requirements\n# Next\ntext").value).toBe(0);
  });

  it("a heading in fenced code does not count, nor does a word inside another", () => {
    const scorer = sectionCompleteness({ sections: ["Scope"] });
    expect(scoreOf(scorer, "```\n# Scope\n```\ntext").value).toBe(0);
    expect(scoreOf(scorer, "# Telescope\ntext").value).toBe(0);
    expect(scoreOf(scorer, "# Out of scope\ntext").value).toBe(1);
  });

  it("accepts a custom list, and names what is wrong with it", () => {
    const scorer = sectionCompleteness({ sections: ["Scope", { name: "Costs", aliases: ["Prices"] }] });
    expect(scoreOf(scorer, "# Prices\n1").value).toBe(0.5);
    expect(() => sectionCompleteness({ sections: [] })).toThrow("sections is []. Give a list of section names.");
    expect(() => sectionCompleteness({ sections: ["  "] })).toThrow('sections[0] is "  ". Give a name');
  });
});

describe("acceptanceCriteria (S3-36)", () => {
  it.each([
    ["- The user sees the result within 2 seconds.", 1],
    ["- Given a registered user, when they log in, then the page loads in under 500 ms", 1],
    ["- The system must answer 99.9 % of requests", 1],
    ["- The result is shown quickly", 0],
    ["- It should be fast", 0],
    ["- Under 300 ms", 0.5],
    ["- An administrator can remove a user", 0.5],
  ])("%s scores %d", (criterion, value) => {
    expect(scoreOf(acceptanceCriteria(), `## Acceptance criteria\n${criterion}`).value).toBe(value);
  });

  it("finds criteria by heading, by id and by form, and averages them", () => {
    const text = [
      "# Requirements",
      "- AC-1: The user gets an answer within 3 seconds",
      "- unrelated",
      "- Given a guest, when the guest opens the page, then the page shows everything",
      "## Acceptance criteria of FR-2",
      "| Criterion | Who |",
      "|---|---|",
      "| It works | nobody |",
    ].join("\n");
    // 1, 0.5 and 0.
    expect(scoreOf(acceptanceCriteria(), text)).toEqual({
      value: 0.5,
      detail: "3 criteria, 1 measurable, 2 with an actor",
    });
  });

  it("no criteria score 0", () => expect(scoreOf(acceptanceCriteria(), "# Scope\ntext").value).toBe(0));
});

describe("errorScenarios (S3-36)", () => {
  it("expects two for each requirement; those elsewhere count if they name it", () => {
    const text = [
      "## FR-1 Login",
      "The user logs in.",
      "- Wrong password: an error is shown",
      "- The directory is unavailable: the user is asked to wait",
      "## FR-2 Search",
      "- If the query is invalid, it is rejected",
      "## FR-3 Export",
      "A file is written.",
      "## Failures",
      "- FR-3: the disk is full and the export fails",
      "- Something else fails",
    ].join("\n");
    // FR-1: 2 of 2, FR-2: 1 of 2; FR-3: the heading "Failures" belongs to it, so both items below do, too.
    expect(scoreOf(errorScenarios(), text)).toEqual({
      value: (1 + 0.5 + 1) / 3,
      detail: "2 of 3 requirements have 2 error scenarios or more",
    });
  });

  it("reads tables and lists", () => {
    const text = "| FR-1 | Login |\n|---|---|\n| FR-1 | times out |\n| FR-1 | is refused |\n- **REQ-2** Search";
    expect(scoreOf(errorScenarios(), text).value).toBe(0.5);
    expect(scoreOf(errorScenarios({ perRequirement: 1 }), text).value).toBe(0.5);
  });

  it("no requirement scores 0", () => expect(scoreOf(errorScenarios(), "Everything fails.").value).toBe(0));
  it("rejects a wrong number", () =>
    expect(() => errorScenarios({ perRequirement: 0 })).toThrow("perRequirement is 0. Give a whole number above 0."));
});

describe("consistency (S3-36)", () => {
  it("is 1 without a fault, also for equal headings below different parents", () => {
    const text = "# A\n## Errors\n# B\n## Errors\nThe Customer Relationship Manager (CRM) uses HTTP. CRM and FR-1.";
    expect(scoreOf(consistency(), text)).toEqual({ value: 1, detail: "no fault" });
  });

  it("counts duplicate headings and abbreviations that are not explained", () => {
    const text = "# Scope\nThe ERP and the SLA.\n# 2. Scope\n- SLA: service level\n# Costs\n# Risks";
    // Headings: 3 of 4. Abbreviations: SLA of ERP and SLA.
    expect(scoreOf(consistency(), text)).toEqual({
      value: (0.75 + 0.5) / 2,
      detail: "1 duplicate heading; not defined: ERP",
    });
  });

  it("an empty document scores 0", () => expect(scoreOf(consistency(), " \n").value).toBe(0));
  it("code is ignored", () => expect(scoreOf(consistency(), "`XYZ`\n```\nABCD\n```").value).toBe(1));
});

describe("reading documents", () => {
  it("readOutline returns parents and text, including the text before the first heading", () => {
    expect(readOutline("a\n# A #\nb\n## B\n# C")).toEqual([
      { level: 0, title: "", path: [], lines: ["a"] },
      { level: 1, title: "A", path: [], lines: ["b"] },
      { level: 2, title: "B", path: ["A"], lines: [] },
      { level: 1, title: "C", path: [], lines: [] },
    ]);
  });

  it("readItems joins the lines of an item, distinguishes entries from paragraphs and skips the rules of tables", () => {
    const items = readItems(["- a", "  b", "", "c", "d", "| e |", "|---|", "| f |", "1. g", "- [x] h"]);
    expect(items.map(({ text }) => text)).toEqual(["a b", "c d", "| e |", "| f |", "g", "h"]);
    expect(items.map(({ isEntry }) => isEntry)).toEqual([true, false, true, true, true, true]);
  });

  it.each([
    ["**2.1 Scope:**", "scope"],
    ["IV. Risks", "risks"],
    ["3) Goals", "goals"],
    ["Non-Functional Requirements", "non functional requirements"],
    ["Vision", "vision"],
  ])("plainTitle of %s is %s", (title, plain) => expect(plainTitle(title)).toBe(plain));

  it("long and unusual texts of 2 MB are read in one pass, within the time limit of a test", () => {
    for (const piece of ["# ", "given when then ", "the a ", "((((", "| ", "```\n", "AB CD (", " \n", "FR-1 error "]) {
      const text = piece.repeat(2_000_000 / piece.length / 10);
      for (const scorer of [sectionCompleteness(), acceptanceCriteria(), errorScenarios(), consistency()]) {
        const { value } = scoreOf(scorer, text);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
    }
  });
});
