import { describe, expect, it } from "vitest";
import { ERROR_CODES, WARNING_CODES } from "#domain";
import { titleOf } from "./titles.ts";

describe("F-F page: headings", () => {
  it.each([...ERROR_CODES, ...WARNING_CODES, "error_max_turns", "error_of_tomorrow"])("%s is a sentence", (code) => {
    const title = titleOf(code);
    expect(title).toMatch(/^(?:A|An|The|There|Some|Something|Nothing) [a-z].*[a-z]$/);
    expect(title.split(" ").length).toBeGreaterThan(2);
    expect(title).not.toMatch(/provider-|[_:]/);
  });
});
