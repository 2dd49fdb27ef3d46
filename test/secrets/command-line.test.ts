import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { KEY, leaks, WRITINGS } from "./hosts.ts";

const folder = temporaryFolder("cli-canary");

let files = 0;
function write(name: string, text: string): string {
  files += 1;
  const path = join(folder, `${files}-${name}`);
  writeFileSync(path, text);
  return path;
}

interface Attempt {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Ways in which a key gets to where a command line says something. `text` is the key in one of its writings. */
const WAYS: Readonly<Record<string, (text: string) => Attempt>> = {
  "a backend's name": (text) => ({ argv: ["run", "-b", `${text}/x`, "hi"] }),
  "an unknown flag": (text) => ({ argv: ["run", `--nope=${text}`, "hi"] }),
  "a flag's value": (text) => ({ argv: ["run", "--max-turns", text, "hi"] }),
  "an unknown command": (text) => ({ argv: ["formats", text] }),
  "a format": (text) => ({ argv: ["formats", "decode", text] }),
  "a configuration's path": (text) => ({ argv: ["run", "--config", join(folder, `${text}.json`), "hi"] }),
  "a tape's path": (text) => ({ argv: ["replay", join(folder, `${text}.tape`)] }),
  "where a tape goes": (text) => ({ argv: ["run", "--record", join(folder, "none", `${text}.tape`), "hi"] }),
  "an address": (text) => ({ argv: ["run", "-b", "openai/m", "hi"], env: { OPENAI_BASE_URL: `nowhere:/${text}` } }),
  "an address in doctor": (text) => ({
    argv: ["doctor", "--json"],
    env: { ANTHROPIC_BASE_URL: `http://${encodeURIComponent(text)}@127.0.0.1:1` },
  }),
  "an address in explain": (text) => ({
    argv: ["explain", "-b", "openai/m"],
    env: { OPENAI_BASE_URL: `nowhere:/${text}` },
  }),
  "a module of tools that throws": (text) => ({
    argv: ["run", "--tools", write("tools.mjs", `throw new Error(${JSON.stringify(text)})`), "hi"],
  }),
  "a configuration that throws": (text) => ({
    argv: ["run", "--config", write("config.mjs", `throw new Error(${JSON.stringify(text)})`), "hi"],
  }),
  "a field of a configuration": (text) => ({
    argv: ["explain", "--config", write("config.json", JSON.stringify({ [text]: 1 }))],
  }),
  "an address to listen on": (text) => ({
    argv: ["serve", "--data", join(folder, "data"), "--host", text, "--port", "0"],
  }),
  "a foreign command's output": () => ({
    argv: ["run", "--json", "--format", "text", "--exec", `${process.execPath} -e "console.log(process.env.MY_TOKEN)"`],
  }),
  "a foreign command's stderr, in pieces": () => ({
    argv: [
      "run",
      "--format",
      "text",
      "--exec",
      `${process.execPath} -e "const s=process.env.MY_TOKEN;(async()=>{for(const c of s){process.stderr.write(c);await new Promise(r=>setTimeout(r,2))}})()"`,
    ],
  }),
};

const cases = Object.entries(WAYS).flatMap(([way, attempt]) =>
  ["plain", "address", "base64 one off", "hex"].map((writing) => ({
    way,
    attempt,
    writing,
    text: WRITINGS[writing] ?? "",
  })),
);

describe("F-A3 SEC16: the command line shows no secret", () => {
  it.each(cases)("$way, $writing", async ({ attempt, text }) => {
    const { argv, env = {} } = attempt(text);
    const io = createMemoryIo({ cwd: folder, env: { MY_TOKEN: KEY, PATH: "/usr/bin", ...env } });
    await main(argv, io);
    expect(`${io.stdout()}${io.stderr()}`).not.toBe("");
    expect(leaks(io.stdout())).toEqual([]);
    expect(leaks(io.stderr())).toEqual([]);
  });

  it("a token on the command line, in what it says about the command line", async () => {
    const io = createMemoryIo({ cwd: folder });
    await main(["serve", "--token", KEY, "--host", KEY, "--data", join(folder, "data"), "--port", "0"], io);
    expect(io.stderr()).not.toBe("");
    expect(leaks(io.stderr())).toEqual([]);
  });

  it("a key of the configuration, in later messages", async () => {
    const config = write("millrace.config.json", JSON.stringify({ backends: { openai: { apiKey: KEY } } }));
    const io = createMemoryIo({ cwd: folder });
    await main(["run", "--config", config, "-b", `openai${KEY}/x`, "hi"], io);
    expect(io.stderr()).toContain("There is no backend");
    expect(leaks(io.stderr())).toEqual([]);
  });

  it("a common word stays, also as the value of a secret variable", async () => {
    const io = createMemoryIo({ cwd: folder, env: { MY_TOKEN: "offline" } });
    await main(["run", "-b", "offline", "--nope", "hi"], io);
    await main(["explain", "-b", "offline"], io);
    expect(io.stdout()).toContain("Backend: offline");
  });
});
