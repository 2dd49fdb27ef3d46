import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { explain, warnOfIgnored } from "./explain.ts";
import { detectFeatures, type RoutedFeature, type RoutingOptions } from "./features.ts";
import { requiresControl, route } from "./route.ts";

const stdio = { command: "server" };
const own = { type: "sdk", name: "own" };
const callback = () => ({ allow: true });

const modeOf = (options: RoutingOptions) => route(detectFeatures(undefined, options)).mode;

describe("the router", () => {
  it.each<[string, RoutingOptions, "plain" | "control"]>([
    ["S0-2: nothing", {}, "plain"],
    ["S0-3: hooks", { hooks: { "before-tool": [callback] } }, "control"],
    ["S0-4 AT-2: an empty map of hooks", { hooks: {} }, "plain"],
    ["S0-3 AT-2: points without a hook", { hooks: { "before-tool": [], prompt: [] } }, "plain"],
    ["S0-5: a server of our own", { mcpConfig: { own } }, "control"],
    ["S0-6: an external server", { mcpConfig: { stdio } }, "plain"],
    ["S0-6: a file of external servers", { mcpConfig: "/etc/mcp.json" }, "plain"],
    ["S0-6: several files of external servers", { mcpConfig: ["/a.json", "/b.json"] }, "plain"],
    ["S0-6 AT-3: both kinds", { mcpConfig: { stdio, own } }, "control"],
    ["S0-6 AT-2: an empty map of servers", { mcpConfig: {} }, "plain"],
    ["S0-7: a permission callback", { permission: callback }, "control"],
    ["S0-8: agents", { agents: { reviewer: { description: "d", prompt: "p" } } }, "control"],
    ["AT-2: an empty map of agents", { agents: {} }, "plain"],
    ["S0-9 C3: acceptEdits", { permissionMode: "acceptEdits" }, "control"],
    ["S0-9 C3: bypassPermissions", { permissionMode: "bypassPermissions" }, "control"],
    ["S0-9 C3: plan", { permissionMode: "plan" }, "control"],
    ["C3: auto", { permissionMode: "auto" }, "control"],
    ["C3: dontAsk", { permissionMode: "dontAsk" }, "control"],
    ["S0-10: the default mode", { permissionMode: "default" }, "plain"],
    ["S0-19: partial messages alone", { includePartialMessages: true }, "plain"],
    [
      "S0-19: nulls",
      { hooks: null, agents: null, mcpConfig: null, permission: null, permissionMode: null, tools: null },
      "plain",
    ],
    ["S0-19: nulls inside", { hooks: { prompt: null }, mcpConfig: { gone: null } }, "plain"],
  ])("S0-15 AT-1 %s", (_title, options, mode) => {
    expect(modeOf(options)).toBe(mode);
    expect(modeOf(options)).toBe(mode);
    expect(requiresControl(detectFeatures(undefined, options))).toBe(mode === "control");
  });

  it("S0-10: an unknown mode does not break it", () => {
    for (const permissionMode of ["nonsense", "", "__proto__", "constructor"]) {
      expect(["plain", "control"]).toContain(modeOf({ permissionMode }));
    }
  });

  it("chooses control for settings of a conversation, and plain for what an argument can express", () => {
    const modes = (
      ["hooks", "tools", "permission", "permission-rules", "guards", "agents", "output", "session"] as const
    ).map((feature) => [feature, route(detectFeatures({ features: [feature] })).mode]);
    expect(Object.fromEntries(modes)).toEqual({
      hooks: "control",
      tools: "control",
      permission: "control",
      "permission-rules": "control",
      guards: "control",
      agents: "control",
      output: "plain",
      session: "plain",
    });
    expect(detectFeatures({ tools: [{} as never] })).toEqual(["tools"]);
    expect(detectFeatures({ outputSchema: {} as never })).toEqual(["output"]);
  });

  it("S0-13: control can be requested without a reason", () => {
    expect(route([], "control")).toMatchObject({
      mode: "control",
      requiresControl: false,
      override: "control",
      ignored: [],
    });
  });

  it("S0-12 C4: forced plain mode names the features that it ignores", () => {
    expect(route(["hooks", "tools", "output"], "plain")).toMatchObject({
      mode: "plain",
      requiresControl: true,
      ignored: ["hooks", "tools"],
    });
  });

  it("C3: forced plain mode keeps the permission mode and the agents, because both are arguments", () => {
    const { ignored, reasons } = route(["agents", "permission-mode:plan"], "plain");
    expect(ignored).toEqual([]);
    expect(reasons.join("\n")).toContain("permission-mode:plan: plain mode carries it as an argument");
  });

  it("S0-11 S0-1 S0-14 AT-4: for every set of features and every override the result is valid, and the override is respected", () => {
    const names: readonly RoutedFeature[] = [
      "hooks",
      "in-process-mcp",
      "tools",
      "permission",
      "permission-rules",
      "guards",
      "agents",
      "output",
      "session",
      "permission-mode:plan",
    ];
    let count = 0;
    for (let set = 0; set < 2 ** names.length; set += 1) {
      const features = names.filter((_name, bit) => (set >> bit) % 2 === 1);
      for (const override of [undefined, null, "auto", "plain", "control"] as const) {
        const chosen = route(features, override);
        const forced = override === "plain" || override === "control" ? override : undefined;
        expect(chosen.mode).toBe(forced ?? (requiresControl(features) ? "control" : "plain"));
        expect(chosen.override).toBe(forced);
        expect(chosen.reasons.length).toBeGreaterThan(0);
        // Features are ignored only if plain mode is forced, and then only those that need control.
        if (forced !== "plain") expect(chosen.ignored).toEqual([]);
        else expect(chosen.ignored.every((feature) => requiresControl([feature]))).toBe(true);
        expect(route(features, override)).toEqual(chosen);
        count += 1;
      }
    }
    expect(count).toBe(1024 * 5);
  });

  it("S0-14: never throws, whatever the options contain", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("hooks", "tools", "permission", "agents", "mcpConfig", "permissionMode"),
          fc.anything(),
        ),
        (options) => {
          expect(["plain", "control"]).toContain(modeOf(options as RoutingOptions));
        },
      ),
      { numRuns: fuzzRuns(500) },
    );
  });
});

describe("an explanation", () => {
  it("AT-6 S0-16 S0-17: names the mode, all features, the reasons and the override", () => {
    const explanation = explain({
      backend: "claude-code",
      settings: { features: ["hooks"] },
      options: { mcpConfig: { own }, permissionMode: "plan" },
    });
    expect(explanation).toMatchObject({
      backend: "claude-code",
      mode: "control",
      features: ["hooks", "in-process-mcp", "permission-mode:plan"],
      requiresControl: true,
      override: undefined,
      ignored: [],
    });
    expect(explanation.text).toBe(
      [
        "Backend: claude-code",
        "Mode: control",
        "Features: hooks, in-process-mcp, permission-mode:plan",
        "Needs the control protocol: yes",
        "Override: none",
        "Reason: hooks: hooks are called over the control channel",
        "Reason: in-process-mcp: tool servers of this process are reached over the control channel",
        "Reason: permission-mode:plan: the permission mode can be changed over the control channel",
      ].join("\n"),
    );
  });

  it("AT-5 C4: lists what forced plain mode ignores, with one warning each", () => {
    const explanation = explain({
      backend: "claude-code",
      settings: { features: ["hooks", "guards"], tools: [{} as never] },
      options: { mode: "plain" },
    });
    expect(explanation).toMatchObject({ mode: "plain", override: "plain", ignored: ["hooks", "tools", "guards"] });
    expect(explanation.text).toContain("Ignored: hooks, tools, guards");
    const warnings = warnOfIgnored(explanation);
    expect(warnings.map(({ code, context }) => [code, context])).toEqual([
      ["feature-ignored", { feature: "hooks" }],
      ["feature-ignored", { feature: "tools" }],
      ["feature-ignored", { feature: "guards" }],
    ]);
    expect(warnings[2]?.message).toContain("those on input and output still hold");
  });

  it("S0-16: ends with what cannot be guaranteed on this machine", () => {
    const { text } = explain({
      backend: "claude-code",
      settings: undefined,
      limits: ["No control group.", "No watchdog."],
    });
    expect(text.split("\n").slice(-2)).toEqual(["Limit: No control group.", "Limit: No watchdog."]);
  });

  it("states that nothing was requested if nothing was", () => {
    expect(explain({ backend: "claude-code", settings: undefined }).text).toContain(
      "Reason: nothing that was asked for needs the control protocol",
    );
  });
});
