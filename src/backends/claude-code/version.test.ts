import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { createScriptedSpawn, createVirtualClock, type SpawnStep } from "#testing";
import { buildArgv } from "./argv.ts";
import type { ClaudeCodeOptions } from "./options.ts";
import {
  applyVersionPolicy,
  detectVersion,
  FEATURE_GATES,
  parseVersion,
  requireFeature,
  requireFlags,
  type VersionDetection,
  versionMeetsMinimum,
} from "./version.ts";

describe("S1-25: reading a version", () => {
  it.each([
    ["claude v1.2.3", "1.2.3"],
    ["1.2.3", "1.2.3"],
    ["v1.2.3", "1.2.3"],
    ["Claude Code CLI 1.2.3-beta.1", "1.2.3"],
    ["  1.2.3  ", "1.2.3"],
    ["2.1.325 (Claude Code)\n", "2.1.325"],
    ["0.9.0", "0.9.0"],
    ["garbage", undefined],
    ["", undefined],
    ["1.2", undefined],
    ["١.٢.٣", undefined],
  ])("AT-9 S1-33: %j → %s", (text, raw) => {
    expect(parseVersion(text)?.raw).toBe(raw);
  });

  it("S1-34: compares versions number by number", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { minLength: 6, maxLength: 6 }), ([a, b, c, d, e, f]) => {
        const left = parseVersion(`${a}.${b}.${c}`);
        const right = parseVersion(`${d}.${e}.${f}`);
        if (left === undefined || right === undefined) throw new Error("unreadable");
        const weigh = (x = 0, y = 0, z = 0): number => x * 10_000 + y * 100 + z;
        expect(versionMeetsMinimum(left, right)).toBe(weigh(a, b, c) >= weigh(d, e, f));
      }),
    );
  });

  it("takes linear time on any input", () => {
    expect(parseVersion("1. ".repeat(1_000_000))).toBeUndefined();
    expect(parseVersion("9".repeat(1_000_000))).toBeUndefined();
  });
});

describe("the version policy", () => {
  const found = (text: string): VersionDetection => {
    const version = parseVersion(text);
    if (version === undefined) throw new Error("unreadable");
    return { kind: "found", version };
  };
  const judge = (detection: VersionDetection, permissive: boolean): unknown => {
    const verdict = applyVersionPolicy(detection, { permissive });
    return verdict.kind === "refused" ? verdict.error.code : verdict.warnings.map((warning) => warning.code);
  };

  it.each<[string, VersionDetection, unknown, unknown]>([
    ["S1-27 S1-29: new enough", found("1.0.0"), [], []],
    ["S1-27 S1-30: too old", found("0.9.99"), "unsupported-cli-version", "unsupported-cli-version"],
    ["S1-31: unreadable", { kind: "unreadable", output: "hm" }, "unknown-version", ["unparseable-cli-version"]],
    ["S1-32: not detected", { kind: "failed", reason: "x." }, "version-detection", ["version-detection-failed"]],
  ])("S1-36 S1-7 AT-9 %s", (_title, detection, strict, permissive) => {
    expect(judge(detection, false)).toEqual(strict);
    expect(judge(detection, true)).toEqual(permissive);
  });

  it("S1-129: reports both versions, the output of the CLI, and what to do", () => {
    const messageOf = (detection: VersionDetection): string => {
      const verdict = applyVersionPolicy(detection);
      return verdict.kind === "refused" ? verdict.error.message : "";
    };
    expect(messageOf({ kind: "failed", reason: "It is an Object" })).toBe(
      "The Claude Code CLI could not be asked for its version: It is an Object. Try claude --version in a terminal, or set permissiveVersionCheck.",
    );
    expect(messageOf(found("0.2.9"))).toBe(
      "The Claude Code CLI is version 0.2.9; at least 1.0.0 is needed. Update it with npm update -g @anthropic-ai/claude-code.",
    );
    expect(messageOf({ kind: "unreadable", output: "hello" })).toContain('"hello"');
    expect(messageOf({ kind: "failed", reason: "It hangs." })).toContain("It hangs.");
  });

  it.each<[string, VersionDetection, unknown]>([
    [
      "too old",
      found("0.2.9"),
      { detected: "0.2.9", minimum: "1.0.0", suggestion: "npm update -g @anthropic-ai/claude-code" },
    ],
    [
      "unreadable",
      { kind: "unreadable", output: "hello" },
      { detected: "hello", minimum: "1.0.0", suggestion: "npm update -g @anthropic-ai/claude-code" },
    ],
    ["not detected", { kind: "failed", reason: "x." }, { minimum: "1.0.0", suggestion: "claude --version" }],
  ])("S1-129: %s: the versions and the remedy are fields of the diagnostic", (_title, detection, diagnostic) => {
    const verdict = applyVersionPolicy(detection);
    expect(verdict.kind === "refused" && verdict.error.diagnostic).toEqual(diagnostic);
  });

  it("S1-129: the same applies where an option needs a newer CLI", () => {
    expect(() => requireFeature(parseVersion("1.0.120"), "control")).toThrow(
      expect.objectContaining({
        diagnostic: { detected: "1.0.120", minimum: "2.0.0", suggestion: "npm update -g @anthropic-ai/claude-code" },
      }),
    );
  });
});

describe("what needs a newer CLI", () => {
  it("C16 S0-31: the version gates", () => {
    expect(FEATURE_GATES).toMatchObject({ partial: "1.0.109", control: "2.0.0", "streaming-tools": "2.1.0" });
  });

  it("C16: is rejected with both versions; accepted if it is supported or the version is unknown", () => {
    for (const feature of Object.keys(FEATURE_GATES) as (keyof typeof FEATURE_GATES)[]) {
      expect(() => requireFeature(parseVersion(FEATURE_GATES[feature]), feature)).not.toThrow();
      expect(() => requireFeature(undefined, feature)).not.toThrow();
      try {
        requireFeature(parseVersion("1.0.1"), feature);
        expect.fail("let through");
      } catch (error) {
        if (!isStartError(error)) throw error;
        expect(error.code).toBe("feature-unavailable");
        for (const word of [feature, FEATURE_GATES[feature], "1.0.1", "npm update"])
          expect(error.message).toContain(word);
      }
    }
  });
});

describe("flags that a CLI does not support yet", () => {
  const refused = (version: string, options: ClaudeCodeOptions): string | undefined => {
    try {
      requireFlags(parseVersion(version), buildArgv(options, { mode: "plain", prompt: "stdin" }));
      return undefined;
    } catch (error) {
      return isStartError(error) ? error.message.split(" needs ")[0] : String(error);
    }
  };

  it.each<[ClaudeCodeOptions, string, string, string]>([
    [{}, "setting-sources", "1.0.120", "1.0.122"],
    [{ settingSources: ["user"] }, "setting-sources", "1.0.120", "1.0.122"],
    [{ includePartialMessages: true }, "partial", "1.0.108", "1.0.122"],
    [{ agents: { a: { description: "d", prompt: "p" } } }, "agents", "1.0.128", "2.0.0"],
    [{ maxThinkingTokens: 2000 }, "max-thinking-tokens", "2.0.1", "2.0.2"],
    [{ pluginDirs: ["/p"] }, "plugins", "2.0.24", "2.0.25"],
    [{ maxBudgetUsd: 1 }, "max-budget-usd", "2.0.29", "2.0.30"],
    [{ appendSystemPrompt: "x".repeat(40_000) }, "append-prompt-file", "2.0.32", "2.0.33"],
    [{ betas: ["b"] }, "betas", "2.0.57", "2.0.58"],
    [{ agent: "a" }, "agent", "2.0.58", "2.0.59"],
    [{ jsonSchema: {} }, "json-schema", "2.0.44", "2.0.64"],
    [{ tools: [] }, "tools-list", "2.0.30", "2.0.64"],
    [{ persistSession: false }, "session-persistence", "2.0.62", "2.0.64"],
    [{ effort: "low" }, "effort", "2.1.37", "2.1.38"],
    [{ includeHookEvents: true }, "hook-events", "2.1.87", "2.1.88"],
  ])(
    "C16: %j is rejected with the name of the feature, and accepted from its version on",
    (options, feature, old, first) => {
      const without = options.includePartialMessages === true ? ["setting-sources", "partial"] : [feature];
      expect(without).toContain(refused(old, options));
      expect(refused(first, options)).toBe(undefined);
    },
  );

  it("S1-27: the oldest version runs if all settings are wanted, which is all that it supports", () => {
    expect(refused("1.0.0", { settingSources: ["user", "project", "local"] })).toBe(undefined);
  });

  it("a text that merely looks like a flag is not treated as one", () => {
    expect(refused("2.0.0", { systemPrompt: "--effort", appendSystemPrompt: "--tools=x" })).toBe(undefined);
  });
});

describe("asking a CLI for its version", () => {
  const ask = async (steps: readonly SpawnStep[], ms = 0) => {
    const clock = createVirtualClock();
    const spawn = createScriptedSpawn(steps, { clock });
    const asking = detectVersion({ path: "/bin/claude", env: { PATH: "/bin" }, spawn, clock });
    await clock.advance(ms);
    return { detection: await asking, call: spawn.calls[0], clock };
  };

  it("S1-28: starts the path that was found, with --version only, and clears its timer", async () => {
    const { detection, call, clock } = await ask([{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }]);
    expect(detection).toMatchObject({ kind: "found", version: { major: 2, minor: 1, patch: 197 } });
    expect(call).toMatchObject({ executable: "/bin/claude", args: ["--version"], inputEnded: true });
    expect(clock.pending()).toBe(0);
  });

  it("S1-35: kills a CLI that has not answered after 5000 ms", async () => {
    const { detection, call } = await ask([{ hang: true }], 5000);
    expect(detection).toEqual({ kind: "failed", reason: "/bin/claude --version gave no answer within 5000 ms." });
    expect(call).toMatchObject({ signals: ["SIGKILL"], isGone: true });
  });

  it("a non-zero exit is a failure that includes the output, even if it looks like a version", async () => {
    const { detection } = await ask([{ write: "needs node 18.0.0" }, { stderr: "too old\n" }, { exit: 1 }]);
    expect(detection).toEqual({
      kind: "failed",
      reason: '/bin/claude --version ended with exit code 1, and said "too old".',
    });
    expect((await ask([{ exit: "SIGSEGV" }])).detection).toMatchObject({ reason: expect.stringContaining("SIGSEGV") });
  });

  it("S1-31: keeps the output if it contains no version", async () => {
    expect((await ask([{ write: " garbage \n" }])).detection).toEqual({ kind: "unreadable", output: "garbage" });
    expect((await ask([])).detection).toEqual({ kind: "unreadable", output: "" });
  });

  it("keeps little of an endless output, and discards the rest", async () => {
    const flood = Array.from({ length: 50 }, () => ({ write: "x".repeat(10_000) }));
    const { detection } = await ask([...flood, { exit: 0 }]);
    expect(detection.kind === "unreadable" && detection.output.length).toBe(65_536);
  });

  it("S1-32: a CLI that cannot be started is a failure", async () => {
    const clock = createVirtualClock();
    const spawn = () => Promise.reject(new Error("EACCES"));
    expect(await detectVersion({ path: "/x", env: {}, spawn, clock })).toEqual({ kind: "failed", reason: "EACCES" });
  });
});
