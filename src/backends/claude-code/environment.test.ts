import { describe, expect, it } from "vitest";
import { CLOUDS } from "./cloud-variables.ts";
import { ALLOWED_VARIABLES, childEnvironment, DEFAULT_VARIABLES } from "./environment.ts";
import { ALWAYS_OFF, readGitSettings } from "./git-settings.ts";

// The variables that are passed to another process are pinned: a new name here is a decision about secrets.
const PINNED = `
ALLUSERSPROFILE ALL_PROXY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_BETAS
ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_DEFAULT_HAIKU_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL
ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL
ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID API_TIMEOUT_MS APPDATA BASH_DEFAULT_TIMEOUT_MS
BASH_MAX_OUTPUT_LENGTH BASH_MAX_TIMEOUT_MS CLAUDE_CODE_API_KEY_HELPER_TTL_MS CLAUDE_CODE_CLIENT_CERT
CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE CLAUDE_CODE_DISABLE_BACKGROUND_TASKS
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC CLAUDE_CODE_EFFORT_LEVEL CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING
CLAUDE_CODE_GIT_BASH_PATH CLAUDE_CODE_MAX_OUTPUT_TOKENS CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_OAUTH_TOKEN
CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_SKIP_FOUNDRY_AUTH CLAUDE_CODE_SKIP_VERTEX_AUTH CLAUDE_CODE_SUBAGENT_MODEL
CLAUDE_CODE_SUBPROCESS_ENV_SCRUB CLAUDE_CODE_USE_ANTHROPIC_AWS CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_FOUNDRY
CLAUDE_CODE_USE_MANTLE CLAUDE_CODE_USE_VERTEX
CLAUDE_CONFIG_DIR CLOUD_ML_REGION COLORTERM COMPUTERNAME COMSPEC ComSpec CommonProgramFiles DISABLE_AUTOUPDATER DISABLE_ERROR_REPORTING
DISABLE_PROMPT_CACHING DISABLE_TELEMETRY ENABLE_TOOL_SEARCH HOME HOMEDRIVE HOMEPATH HTTPS_PROXY HTTP_PROXY IS_SANDBOX
LANG LANGUAGE LOCALAPPDATA LOGNAME MAX_MCP_OUTPUT_TOKENS MAX_THINKING_TOKENS MCP_TIMEOUT MCP_TOOL_TIMEOUT
NODE_EXTRA_CA_CERTS NO_COLOR NO_PROXY NUMBER_OF_PROCESSORS OS PATH PATHEXT
PROCESSOR_ARCHITECTURE PUBLIC Path ProgramData ProgramFiles ProgramFiles(x86) ProgramW6432 SHELL SSL_CERT_DIR SSL_CERT_FILE
SYSTEMROOT SystemDrive SystemRoot TEMP TERM TMP TMPDIR TZ USER USERDOMAIN USERNAME USERPROFILE USE_BUILTIN_RIPGREP
XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME all_proxy http_proxy https_proxy no_proxy
windir`;

/** Names that usually hold secrets and must not reach another program by accident. */
const SECRETS = `
OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS OPENROUTER_API_KEY DEEPSEEK_API_KEY
MISTRAL_API_KEY GROQ_API_KEY XAI_API_KEY COHERE_API_KEY HF_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
AWS_SESSION_TOKEN AZURE_CLIENT_SECRET GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN NPM_TOKEN NODE_AUTH_TOKEN DATABASE_URL
PGPASSWORD REDIS_URL STRIPE_SECRET_KEY SLACK_BOT_TOKEN SENTRY_AUTH_TOKEN DOCKER_PASSWORD SSH_AUTH_SOCK
KUBECONFIG VAULT_TOKEN MILLRACE_API_KEY NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH BASH_ENV ENV PYTHONPATH`
  .trim()
  .split(/\s+/);

/** The variables that are always set. */
const ISOLATION = childEnvironment({ parent: {} });

describe("the environment of the CLI", () => {
  it("contains exactly the listed variables", () => {
    expect([...ALLOWED_VARIABLES].sort()).toEqual(PINNED.trim().split(/\s+/).sort());
  });

  it("SEC3: contains no secrets of other programs", () => {
    const parent = Object.fromEntries(SECRETS.map((name) => [name, "sekret"]));
    expect(SECRETS.length).toBeGreaterThanOrEqual(30);
    expect(childEnvironment({ parent })).toEqual(ISOLATION);
  });

  it("SEC3: contains them if they are passed explicitly", () => {
    expect(childEnvironment({ parent: {}, extra: { GITHUB_TOKEN: "t" } })).toMatchObject({ GITHUB_TOKEN: "t" });
  });

  it("S3-28: contains the user's language, path and key", () => {
    const parent = { PATH: "/bin", LC_ALL: "C", LC_TIME: "de_DE", ANTHROPIC_API_KEY: "k", HOME: undefined };
    expect(childEnvironment({ parent })).toEqual({
      ...ISOLATION,
      PATH: "/bin",
      LC_ALL: "C",
      LC_TIME: "de_DE",
      ANTHROPIC_API_KEY: "k",
    });
  });

  it("S3-28 C21: never indicates that the CLI runs inside another one, even if a whole environment is passed", () => {
    const nested = { CLAUDECODE: "1", CLAUDE_CODE_ENTRYPOINT: "cli", CLAUDE_CODE_SSE_PORT: "1" };
    expect(childEnvironment({ parent: nested, extra: nested })).toEqual(ISOLATION);
  });

  it("has few retries, no telemetry and no updates by default", () => {
    expect(DEFAULT_VARIABLES).toEqual({
      CLAUDE_CODE_MAX_RETRIES: "2",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
    });
    expect(childEnvironment({ parent: { CLAUDE_CODE_MAX_RETRIES: "5" } })["CLAUDE_CODE_MAX_RETRIES"]).toBe("5");
    const extra = { CLAUDE_CODE_MAX_RETRIES: "0" };
    expect(childEnvironment({ parent: { CLAUDE_CODE_MAX_RETRIES: "5" }, extra })["CLAUDE_CODE_MAX_RETRIES"]).toBe("0");
  });

  it("contains the tag of its run, whatever else is set", () => {
    const env = childEnvironment({ parent: { MILLRACE_RUN: "outer" }, extra: { MILLRACE_RUN: "x" }, runTag: "mine" });
    expect(env["MILLRACE_RUN"]).toBe("mine");
    expect(childEnvironment({ parent: { MILLRACE_RUN: "outer" } })["MILLRACE_RUN"]).toBeUndefined();
  });

  it("F-A14: on Windows, names are case-insensitive and unique, and the caller's value replaces ours", () => {
    const parent = { PATH: "C:\\bin", SYSTEMROOT: "C:\\Windows", comspec: "cmd", Temp: "C:\\t", github_token: "x" };
    const extra = { path: "D:\\bin", claudecode: "1", Millrace_Run: "forged" };
    expect(childEnvironment({ parent, extra, runTag: "mine", platform: "win32" })).toEqual({
      ...childEnvironment({ parent: {}, platform: "win32" }),
      MILLRACE_RUN: "mine",
      path: "D:\\bin",
      SYSTEMROOT: "C:\\Windows",
      comspec: "cmd",
      Temp: "C:\\t",
    });
    expect(childEnvironment({ parent: { path: "/x" }, platform: "linux" })["path"]).toBeUndefined();
  });

  it("F-A14: has the tag first, where no process listing cuts it off", () => {
    const env = childEnvironment({
      parent: { PATH: "/bin" },
      extra: { FILL: "x", MILLRACE_RUN: "forged" },
      runTag: "mine",
    });
    expect(Object.entries(env)[0]).toEqual(["MILLRACE_RUN", "mine"]);
  });

  it("reads own properties only", () => {
    const parent = Object.create({ PATH: "/inherited" }) as Record<string, string>;
    expect(childEnvironment({ parent, extra: JSON.parse('{"__proto__": "x"}') })["PATH"]).toBeUndefined();
  });
});

describe("F-C12: the variables of a cloud provider are passed if its switch is set, and only then", () => {
  it.each(Object.entries(CLOUDS).flatMap(([cloud, { switches }]) => switches.map((name) => [cloud, name] as const)))(
    "%s: %s",
    (cloud, name) => {
      const { names, prefixes } = CLOUDS[cloud as keyof typeof CLOUDS];
      const all = [...names, ...prefixes.map((prefix) => `${prefix}CLAUDE_4_5_SONNET`)];
      const parent = Object.fromEntries(all.map((variable) => [variable, `value of ${variable}`]));
      expect(childEnvironment({ parent })).toEqual(ISOLATION);
      for (const no of ["", "0", "false", "No"]) {
        expect(Object.keys(childEnvironment({ parent: { ...parent, [name]: no } }))).not.toContain(all[0]);
      }
      const isOpen = { ...ISOLATION, ...parent, [name]: "1" };
      expect(childEnvironment({ parent: { ...parent, [name]: "1" } })).toEqual(isOpen);
      expect(childEnvironment({ parent, extra: { [name]: "1" } })).toEqual(isOpen);
    },
  );

  it("the keys of the other cloud providers are not passed", () => {
    const parent = {
      CLAUDE_CODE_USE_VERTEX: "1",
      GOOGLE_APPLICATION_CREDENTIALS: "/k.json",
      AWS_SECRET_ACCESS_KEY: "sekret",
      AZURE_CLIENT_SECRET: "sekret",
    };
    const { AWS_SECRET_ACCESS_KEY: _, AZURE_CLIENT_SECRET: __, ...passed } = parent;
    expect(childEnvironment({ parent })).toEqual({ ...ISOLATION, ...passed });
  });
});

describe("F-A9: attachments of the CLI", () => {
  const NAME = "CLAUDE_CODE_DISABLE_ATTACHMENTS";
  it("are off, whatever the variables contain, unless the option enables them", () => {
    expect(childEnvironment({ parent: { [NAME]: "0" }, extra: { [NAME]: "0" } })[NAME]).toBe("1");
    expect(childEnvironment({ parent: { [NAME]: "1" }, attachments: true })[NAME]).toBeUndefined();
  });
});

describe("F-A4: settings for git", () => {
  it("come after the user's own, so that both apply and ours take precedence", () => {
    const own = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };
    const more = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.fsmonitor", GIT_CONFIG_VALUE_0: "true" };
    expect(readGitSettings(childEnvironment({ parent: own, extra: more }))).toEqual([
      ["safe.directory", "*"],
      ["core.fsmonitor", "true"],
      ...ALWAYS_OFF,
    ]);
  });

  it("a header with a token is passed only if it is given explicitly", () => {
    const secret = {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "http.https://github.com/.extraheader",
      GIT_CONFIG_VALUE_0: "AUTHORIZATION: sekret",
    };
    expect(JSON.stringify(childEnvironment({ parent: secret }))).not.toContain("sekret");
    expect(JSON.stringify(childEnvironment({ parent: {}, extra: secret }))).toContain("sekret");
  });

  it.each(["-1", "1e9", "x", "2"])("a count of %s is tolerated", (count) => {
    expect(readGitSettings({ GIT_CONFIG_COUNT: count, GIT_CONFIG_KEY_0: "a.b" })).toEqual([]);
  });

  it("are absent if the repository is trusted", () => {
    expect(childEnvironment({ parent: {}, git: [] })["GIT_CONFIG_COUNT"]).toBeUndefined();
  });
});
