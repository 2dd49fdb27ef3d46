import { describe, expect, it } from "vitest";
import { diagnoseExit } from "./diagnostics.ts";

describe("an exit without a result", () => {
  it.each<[number, boolean, string, string]>([
    [1, true, "Authentication required", "ANTHROPIC_API_KEY"],
    [1, false, "General error (check if CLI is authenticated)", "terminal"],
    [2, true, "Invalid arguments (check SDK version compatibility)", "npm update"],
    [2, false, "Invalid arguments (check SDK version compatibility)", "claude --version"],
    [126, true, "Permission denied (check file permissions)", "chmod"],
    [127, true, "Command not found (CLI may have moved)", "which claude"],
    [42, true, "CLI error (no output)", "terminal"],
    [42, false, "Unknown error", "terminal"],
  ])("AT-29 S1-132: code %i, empty %s → %s", (code, stdoutWasEmpty, hint, troubleshooting) => {
    const diagnostic = diagnoseExit({ code, stdoutWasEmpty });
    expect(diagnostic).toMatchObject({ hint, exitCode: code, stdoutWasEmpty });
    expect(diagnostic.troubleshooting).toContain(troubleshooting);
    expect(diagnostic).not.toHaveProperty("stderrTail");
  });

  it("S1-134: mentions environments in which an interactive login is impossible", () => {
    const { troubleshooting } = diagnoseExit({ code: 1, stdoutWasEmpty: true });
    for (const place of ["daemon", "CI", "container"]) expect(troubleshooting).toContain(place);
  });

  it("C28: what the CLI wrote to stderr comes first", () => {
    const stderrTail = "warning: something\nError: Invalid MCP configuration: x.json\n    at foo (minified.js:1:1)\n";
    const diagnostic = diagnoseExit({ code: 1, stdoutWasEmpty: true, stderrTail });
    expect(diagnostic.hint).toBe("Error: Invalid MCP configuration: x.json");
    expect(diagnostic.stderrTail).toBe(stderrTail.trim());
  });

  it("C28: mentions authentication only if stderr does, or is empty", () => {
    const hintOf = (stderrTail: string) => diagnoseExit({ code: 1, stdoutWasEmpty: true, stderrTail }).hint;
    expect(hintOf("Not logged in · Please run /login")).toBe(
      "Authentication required: Not logged in · Please run /login",
    );
    expect(hintOf("Invalid API key")).toContain("Authentication required");
    expect(hintOf("  \n")).toBe("Authentication required");
    expect(hintOf("Session ID 1 is already in use.")).toBe("Session ID 1 is already in use.");
  });

  it("S1-133: a rejected flag is reported as a version mismatch, with how to update", () => {
    for (const stderrTail of [
      "Error: When using --print, --output-format=stream-json requires --verbose",
      "error: unknown option '--setting-sources'",
    ]) {
      const { hint, troubleshooting } = diagnoseExit({ code: 1, stdoutWasEmpty: true, stderrTail });
      expect(hint).toContain("do not fit together");
      expect(hint).toContain(stderrTail);
      expect(troubleshooting).toContain("npm update -g @anthropic-ai/claude-code");
    }
  });

  it("explains why root may not bypass permissions", () => {
    const stderrTail = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
    expect(diagnoseExit({ code: 1, stdoutWasEmpty: true, stderrTail }).troubleshooting).toContain("IS_SANDBOX=1");
  });

  it("distinguishes a signal from an exit code", () => {
    const diagnostic = diagnoseExit({ code: null, signal: "SIGKILL", stdoutWasEmpty: false });
    expect(diagnostic.hint).toBe("The CLI was ended by SIGKILL");
    expect(diagnostic.troubleshooting).toContain("memory");
    expect(diagnostic).not.toHaveProperty("exitCode");
  });

  it("S1-131: keeps the last line that was not JSON", () => {
    expect(diagnoseExit({ code: 1, stdoutWasEmpty: false, lastNonJsonLine: "hm" }).lastNonJsonLine).toBe("hm");
  });

  it("shortens a first line that is a page of minified source", () => {
    const hint = diagnoseExit({ code: 1, stdoutWasEmpty: true, stderrTail: `x${"y".repeat(5000)}` }).hint;
    expect(hint?.length).toBeLessThan(320);
  });
});
