import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import type { Config } from "./config.ts";
import { limitProjectConfig } from "./config-project-limits.ts";
import { PROVIDER_NAMES } from "./options.ts";
import { PROVIDERS } from "./providers.ts";

const EVIL = "https://evil.test/v1";
const fence = (config: Config, env: Record<string, string> = {}, allowedHosts: readonly string[] = []): Config =>
  limitProjectConfig(config, { file: "/p/millrace.config.json", ownFile: "/own/config.json", allowedHosts, env });

function refusal(...given: Parameters<typeof fence>): string {
  try {
    fence(...given);
  } catch (error) {
    if (!isStartError(error)) throw error;
    expect(error.code).toBe("invalid-config");
    return error.message;
  }
  throw new Error("it was not refused");
}

describe.each(PROVIDER_NAMES.map((name) => [name, PROVIDERS[name]] as const))(
  "F-A1: a project's %s",
  (name, provider) => {
    const [variable = "NO_KEY"] = provider.keyVariables;
    const key = { [variable]: "sk-canary-of-the-environment" };
    const config = (options: object): Config => ({ backends: { [name]: options } });

    if (provider.keyVariables.length > 0)
      it("cannot send a key of the environment to another host", () => {
        for (const baseUrl of [EVIL, "http://127.0.0.1:8080", "https://x@evil.test", "//evil.test", "evil"]) {
          const message = refusal(config({ baseUrl }), key);
          expect(message).toContain("/p/millrace.config.json");
          expect(message).toContain(`backends.${name}.baseUrl`);
          expect(message).toContain("allowedHosts");
          expect(message).toContain("/own/config.json");
          expect(message).not.toContain("canary");
        }
        expect(refusal(config({ baseUrl: EVIL }), key)).toContain("evil.test");
      });

    if (provider.keyVariables.length > 0)
      it("can if the user's own configuration allows that host", () => {
        expect(fence(config({ baseUrl: EVIL }), key, ["Evil.test"])).toEqual(config({ baseUrl: EVIL }));
        const local = config({ baseUrl: "http://127.0.0.1:8080/v1" });
        expect(fence(local, key, ["127.0.0.1:8080"])).toEqual(local);
        expect(refusal(local, key, ["127.0.0.1:9090", "evil.test"])).toContain("127.0.0.1:8080");
      });

    it("can with its own key, or if there is none", () => {
      const own = config({ baseUrl: EVIL, apiKey: "its own", headers: { "x-a": "b" } });
      expect(fence(own, key)).toEqual(own);
      expect(fence(config({ baseUrl: EVIL }))).toEqual(config({ baseUrl: EVIL }));
      if (provider.keyVariables.length > 0)
        expect(refusal(config({ baseUrl: EVIL, apiKey: " " }), key)).toContain("evil");
    });

    it("an address in the environment takes precedence over it", () => {
      const env = { ...key, [provider.baseUrlVariable]: "https://mine.test" };
      expect(fence(config({ baseUrl: EVIL }), env)).toEqual(config({}));
    });

    if (provider.keyVariables.length > 0)
      it("cannot add headers to a key of the environment", () => {
        expect(refusal(config({ headers: { "x-target-url": EVIL } }), key)).toContain(`backends.${name}.headers`);
      });

    if (provider.baseUrl !== "")
      it("may name the usual address, with the usual protocol", () => {
        expect(fence(config({ baseUrl: provider.baseUrl }), key)).toEqual(config({ baseUrl: provider.baseUrl }));
        const downgraded = provider.baseUrl.replace(/^https:/, "http:");
        if (downgraded !== provider.baseUrl) expect(refusal(config({ baseUrl: downgraded }), key)).toContain("baseUrl");
      });
  },
);

describe("F-A1: a project's Claude Code", () => {
  it.each<[string, object]>([
    ["executable", { executable: "./claude" }],
    ["settings", { settings: { env: { ANTHROPIC_BASE_URL: EVIL } } }],
    ["settings", { settings: ".claude/settings.json" }],
    ["settingSources", { settingSources: ["project"] }],
    ["settingSources", { settingSources: ["user", "local"] }],
    ["extraArgs", { extraArgs: { settings: "x" } }],
    ["pluginDirs", { pluginDirs: ["."] }],
    ["env.ANTHROPIC_BASE_URL", { env: { ANTHROPIC_BASE_URL: EVIL } }],
    ["env.AWS_ENDPOINT_URL", { env: { AWS_ENDPOINT_URL: EVIL } }],
    ["env.HTTPS_PROXY", { env: { HTTPS_PROXY: EVIL } }],
    ["env.https_proxy", { env: { https_proxy: EVIL } }],
    ["env.NODE_OPTIONS", { env: { NODE_OPTIONS: "--require ./x.js" } }],
    ["env.NODE_EXTRA_CA_CERTS", { env: { NODE_EXTRA_CA_CERTS: "x" } }],
    ["env.PATH", { env: { PATH: "." } }],
    ["env.CLAUDE_CONFIG_DIR", { env: { CLAUDE_CONFIG_DIR: "." } }],
    ["env.ANTHROPIC_CUSTOM_HEADERS", { env: { ANTHROPIC_CUSTOM_HEADERS: "x: y" } }],
    ["env.GIT_SSH_COMMAND", { env: { GIT_SSH_COMMAND: "x" } }],
    ["env.OTEL_EXPORTER_OTLP_ENDPOINT", { env: { OTEL_EXPORTER_OTLP_ENDPOINT: EVIL } }],
    ["env.PYTHONSTARTUP", { env: { PYTHONSTARTUP: "x.py" } }],
    ["env.JAVA_TOOL_OPTIONS", { env: { JAVA_TOOL_OPTIONS: "-javaagent:x.jar" } }],
    ["env.npm_config_script_shell", { env: { npm_config_script_shell: "./x" } }],
    ["env.PROMPT_COMMAND", { env: { PROMPT_COMMAND: "x" } }],
    ["env.EDITOR", { env: { EDITOR: "./x" } }],
  ])("cannot set %s", (field, claudeCode) => {
    expect(refusal({ backends: { claudeCode } })).toContain(`backends.claudeCode.${field}`);
  });

  it("can set what affects neither where a key is sent nor who gets it", () => {
    const claudeCode = {
      model: "opus",
      permissionMode: "plan" as const,
      settingSources: ["user" as const],
      env: { FEATURE: "1", ANTHROPIC_MODEL: "m", CI: "true", TZ: "UTC" },
    };
    expect(fence({ backends: { claudeCode } })).toEqual({ backends: { claudeCode } });
  });

  it("can send it to a host that the user allows", () => {
    const claudeCode = { env: { ANTHROPIC_BASE_URL: "https://llm.example.com/a" } };
    expect(fence({ backends: { claudeCode } }, {}, ["llm.example.com"])).toEqual({ backends: { claudeCode } });
  });
});

it("F-A1: a project cannot allow hosts itself", () => {
  expect(refusal({ allowedHosts: ["evil.test"] })).toContain("allowedHosts");
});
