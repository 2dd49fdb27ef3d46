import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HOSTILE_TEXTS, isHarmless } from "../../test/e2e/hostile-texts.ts";
import { createMemoryIo } from "../../test/e2e/memory-io.ts";
import { wordingFaults } from "../../test/command-line/well-said.ts";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { main } from "./main.ts";

// R16: every mistake on the command line is reported in a line or two that name it and the remedy: exit code 2, or 3 if
// the machine lacks something; no stack, nothing on stdout, no run.

const folder = temporaryFolder("bad-input");
const files: Readonly<Record<string, string | Uint8Array>> = {
  "empty.json": "",
  "broken.json": '{"name": ',
  "list.json": "[]",
  "text.txt": "text",
  "empty.png": "",
  "binary.bin": new Uint8Array([0x80, 0xff, 0xfe]),
  "no-tools.mjs": "export const a = 1;",
  "throws.mjs": "throw new Error('my own fault');",
  "syntax.mjs": "const a = ;",
  "typed.ts": "export const a: number = 1;",
  "no-name.json": '{"framing":"ndjson","events":[]}',
  "bad-framing.json": '{"name":"x","framing":"xml","events":[]}',
  "bad-path.json":
    '{"name":"x","framing":"ndjson","events":[{"kind":"message","match":{"a":1},"extract":{"text":"a..b["}}]}',
  "bad-kind.json": '{"name":"x","framing":"ndjson","events":[{"kind":"mesage","match":{"a":1},"extract":{}}]}',
};
for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
mkdirSync(join(folder, "folder"));

interface Case {
  readonly args: readonly string[];
  /** What the message must contain: the flag or the position, and part of the remedy. */
  readonly says: readonly RegExp[];
  readonly code?: number;
  readonly input?: string | Uint8Array;
  /** The message contains text that is not ours. */
  readonly isForeign?: boolean;
}

const swap = (word: string): string => word.replace(/(.)(.)(?=.?$)/, "$2$1");
const drop = (word: string): string => word.slice(0, -2) + word.slice(-1);
const double = (word: string): string => word.slice(0, 3) + word.slice(2);

const FLAGS = [
  "--backend",
  "--model",
  "--instructions",
  "--system",
  "--tools",
  "--allow",
  "--deny",
  "--max-turns",
  "--max-tokens",
  "--max-cost",
  "--timeout",
  "--thinking-tokens",
  "--resume",
  "--continue",
  "--claude-executable",
  "--permission-mode",
  "--strict",
  "--config",
  "--show-all",
  "--show-json",
  "--append-json",
  "--quiet",
];

/** Mistyped flags of the commands: each message names the nearest one. */
const mistyped: Case[] = [
  ...["run", "chat", "explain"].flatMap((command) =>
    FLAGS.filter((flag) => command !== "explain" || !/show|append|quiet/.test(flag)).flatMap((flag) =>
      [swap(flag), drop(flag), double(flag)].map((wrong) => ({
        args: [command, wrong, "x"],
        says: [/There is no option --/, new RegExp(`Did you mean .*${flag.slice(0, 5)}`)],
      })),
    ),
  ),
  ...["--raww", "--rw"].map((wrong) => ({
    args: ["formats", "decode", wrong],
    says: [/There is no option --/, /Did you mean --raw/],
  })),
  ...["--prot", "--por", "--scrip", "--stric"].map((wrong) => ({
    args: ["emulate", wrong],
    says: [/There is no option --/, /Did you mean --/],
  })),
  ...["--jsn", "--bakend"].map((wrong) => ({
    args: ["doctor", wrong],
    says: [/There is no option --/, /Did you mean --/],
  })),
];

const counts = [
  "0",
  "-1",
  "1.5",
  "none",
  "",
  " ",
  "1e3",
  "0x10",
  "NaN",
  "Infinity",
  "99999999999999999999",
  "１",
  "1,000",
];
const wrongValues: Case[] = [
  ...["--max-turns", "--max-tokens", "--thinking-tokens"].flatMap((flag) =>
    counts.map((value) => ({ args: [`${flag}=${value}`, "hi"], says: [new RegExp(flag), /whole number above 0/] })),
  ),
  ...["0", "-1", "free", "", "1.2.3", "€5", "1e9"].map((value) => ({
    args: [`--max-cost=${value}`, "hi"],
    says: [/--max-cost/, /amount in dollars/],
  })),
  ...["0", "0s", "soon", "-5s", "5d", "", "1h30m", "5 s", "١s"].map((value) => ({
    args: [`--timeout=${value}`, "hi"],
    says: [/--timeout/, /500ms, 30s, 5m or 1h/],
  })),
  ...["plian", "cli", "", "PLAIN"].map((value) => ({
    args: [`--mode=${value}`, "hi"],
    says: [/--mode/, /auto, plain, control/],
  })),
  ...["pln", "all", "", "ask"].map((value) => ({
    args: [`--permission-mode=${value}`, "hi"],
    says: [/--permission-mode/, /plan/],
  })),
  ...["shw", "yes", "1"].map((value) => ({
    args: [`--thinking=${value}`, "hi"],
    says: [/--thinking/, /show, collapse, hide/],
  })),
  ...["99999", "-1", "http", "", "80.5", "70000"].map((value) => ({
    args: ["emulate", `--port=${value}`],
    says: [/--port/, /0 to 65535/],
  })),
  ...["sh", "bsh", "powershell"].map((value) => ({
    args: ["completion", value],
    says: [/completion|shell/, /bash, zsh, fish/],
  })),
  ...[
    "--allow",
    "--deny",
    "--ask",
    "--backend",
    "--model",
    "--tools",
    "--resume",
    "--record",
    "--replay",
    "--exec",
    "--config",
    "--claude-executable",
  ].map((flag) => ({ args: [`${flag}=`, "hi"], says: [new RegExp(flag), /empty/] })),
  ...[
    "--backend",
    "--model",
    "--tools",
    "--allow",
    "--max-turns",
    "--timeout",
    "--resume",
    "--image",
    "--exec",
    "--format",
  ].map((flag) => ({
    args: ["hi", flag],
    says: [new RegExp(flag), /has no value/],
  })),
];

const BACKENDS = ["antropic/x", "opnai/x", "gogle", "offlin", "claud-code", "deepsek/x", "vlm/x", "opnrouter/x"];
const wrongBackends: Case[] = [
  ...BACKENDS.flatMap((name) => [
    { args: ["-b", name, "hi"], says: [/no backend/, /Did you mean/] },
    { args: ["explain", "-b", name], says: [/no backend/, /Did you mean/] },
    { args: ["doctor", "-b", name], says: [/--backend.*no backend/, /Did you mean/] },
  ]),
  ...["nonsense/x", "/", "a b/x", "constructor/x", "__proto__/x", "x".repeat(500)].map((name) => ({
    args: ["-b", name, "hi"],
    says: [/no backend/, /Known: .*offline/],
  })),
  // F-F: a model's name alone, another name of a provider, a local server; never the offline model under another name.
  ...[
    ["gpt-5.6-sol", /Did you mean "openai\/gpt-5\.6-sol"/],
    ["gpt-5.6-slo", /Did you mean "openai\/gpt-5\.6-sol"/],
    ["claude-sonnet-4-6", /Did you mean "anthropic\/claude-sonnet-4-6"/],
    ["sonnet", /Did you mean "claude-code\/sonnet"/],
    ["gemini", /Did you mean "google"/],
    ["gpt/x", /Did you mean "openai\/x"/],
    ["ollama/llama3", /VLLM_BASE_URL=http:\/\/127\.0\.0\.1:11434\/v1 and write vllm\/llama3/],
    ["lm-studio", /VLLM_BASE_URL=.* and write vllm\/<model>/],
  ].flatMap(([name, says]) => [
    { args: ["-b", name as string, "hi"], says: [/no backend/, says as RegExp] },
    { args: ["explain", "-b", name as string], says: [/no backend/, says as RegExp] },
    { args: ["chat", "-b", name as string], says: [/no backend/, says as RegExp] },
  ]),
  ...[
    ["gpt-5.6-sol", /Write openai\/gpt-5\.6-sol as the backend/],
    ["sonet-9", /name its provider/],
    ["my-model", /name its provider/],
  ].flatMap(([name, says]) => [
    { args: ["-m", name as string, "hi"], says: [/offline is one model and has no/, says as RegExp] },
    { args: ["-b", `offline/${name}`, "hi"], says: [/offline is one model and has no/, says as RegExp] },
    { args: ["explain", "-m", name as string], says: [/offline is one model and has no/, says as RegExp] },
  ]),
  { args: ["-m", "nope/x", "hi"], says: [/--model: there is no backend "nope"/, /Known: /] },
  { args: ["-b", "offline", "-m", "openai/x", "hi"], says: [/name two backends/, /Leave one of them out/] },
  ...["vllm", "modal", "openrouter"].map((name) => ({
    args: ["-b", name, "hi"],
    says: [new RegExp(`Write ${name}/<model>`)],
  })),
  ...["anthropic/x", "openai/x", "google/x", "deepseek/x", "openrouter/x"].flatMap((name) =>
    [[], ["chat"]].map((command) => ({
      args: [...command, "-b", name, ...(command.length === 0 ? ["hi"] : [])],
      says: [/_API_KEY.* is not set/, /Set it/],
      code: 3,
    })),
  ),
];

const wrongFiles: Case[] = [
  { args: ["-t", "nowhere.mjs", "hi"], says: [/--tools nowhere\.mjs/, /no such file/] },
  { args: ["-t", "no-tools.mjs", "hi"], says: [/--tools no-tools\.mjs exports no tool/, /tool\(/] },
  { args: ["-t", "throws.mjs", "hi"], says: [/--tools throws\.mjs could not be loaded: my own fault/] },
  // F-F: a Node that strips no types names the file to write instead; other versions read it.
  { args: ["-t", "typed.ts", "hi"], says: [/cannot read TypeScript\. Use Node 22\.18 .*typed\.mjs\.|exports no tool/] },
  {
    args: ["--config", "typed.ts", "hi"],
    says: [/cannot read TypeScript\. Use Node 22\.18 .*typed\.mjs|exports no configuration/],
  },
  { args: ["-t", "folder", "hi"], says: [/--tools folder could not be loaded/] },
  { args: ["-i", "@nowhere.txt", "hi"], says: [/--instructions @nowhere\.txt/, /cannot be read/] },
  { args: ["--system", "@folder", "hi"], says: [/--instructions @folder/, /cannot be read/] },
  { args: ["-i", "a", "--system", "b", "hi"], says: [/--system/, /cannot be used with/] },
  { args: ["--resume", "x", "--continue", "hi"], says: [/--continue/, /cannot be used with/] },
  { args: ["--image", "nowhere.png", "hi"], says: [/--image nowhere\.png/, /cannot be read/] },
  { args: ["--image", "text.txt", "hi"], says: [/--image text\.txt/, /\.png/] },
  { args: ["--image", "empty.png", "hi"], says: [/--image empty\.png/, /empty/] },
  {
    args: ["serve", "--data", "text.txt/x"],
    says: [/data folder .*text\.txt\/x/, /Give another folder with --data\./],
  },
  {
    args: ["serve", "--data", "text.txt"],
    says: [/data folder .*text\.txt cannot be used: it already exists and is a file\. Give another/],
  },
  {
    args: ["serve", "--store", "data"],
    says: [/--store must be an address that begins with postgres:\/\/\. .*--data/],
  },
  {
    args: ["--record", "text.txt/x.tape", "hi"],
    says: [/--record is .*text\.txt\/x\.tape", but a part of the path is a file\./, /Give the path of a new file/],
  },
  { args: ["emulate", "-s", "nowhere.json"], says: [/--script nowhere\.json/, /cannot be read/] },
  {
    args: ["emulate", "-s", "broken.json"],
    says: [/--script broken\.json is not JSON: .* \(line 1, column 10\)\. Correct it there\./],
  },
  { args: ["emulate", "-s", "empty.json"], says: [/--script empty\.json is not JSON: .* \(line 1, column 1\)/] },
  { args: ["emulate", "-s", "list.json"], says: [/script/] },
  ...["decode", "check"].flatMap((command): Case[] => [
    { args: ["formats", command, "ndjsn"], says: [/ndjson/] },
    { args: ["formats", command, "nowhere.json"], says: [/format file .*nowhere\.json/] },
    { args: ["formats", command, "broken.json"], says: [/broken\.json is not JSON: .* \(line 1, column 10\)/] },
    { args: ["formats", command, "empty.json"], says: [/empty\.json is not JSON: .* \(line 1, column 1\)/] },
    { args: ["formats", command, "list.json"], says: [/list\.json/] },
    { args: ["formats", command, "no-name.json"], says: [/no-name\.json.*name/] },
    { args: ["formats", command, "bad-framing.json"], says: [/bad-framing\.json.*framing/] },
    { args: ["formats", command, "bad-path.json"], says: [/bad-path\.json/] },
    { args: ["formats", command, "bad-kind.json"], says: [/bad-kind\.json.*kind/] },
    { args: ["formats", command, "ndjson", "nowhere.ndjson"], says: [/no file .*nowhere\.ndjson/] },
    { args: ["formats", command, "ndjson", "folder"], says: [/folder is a folder/] },
    { args: ["formats", command], says: [/The argument <format> is missing/] },
    {
      args: ["formats", command, "ndjson", "-", "more"],
      says: [/The command takes (?:no|\d) arguments?, and \d w\w+ given/],
    },
  ]),
];

const wrongUse: Case[] = [
  { args: ["run"], says: [/prompt is empty/] },
  { args: ["run", " "], says: [/prompt is empty/] },
  { args: ["run", "-"], says: [/prompt is empty/] },
  { args: ["-"], says: [/not UTF-8/, /iconv/], input: new Uint8Array([0x80, 0xff]) },
  { args: ["formats"], says: [/Usage: millrace formats/] },
  { args: ["formats", "lst"], says: [/There is no command "lst"/, /Did you mean list/] },
  { args: ["formats", "decod"], says: [/There is no command/, /Did you mean decode/] },
  { args: ["completion"], says: [/The argument <shell> is missing/] },
  { args: ["doctor", "now"], says: [/The command takes (?:no|\d) arguments?, and \d w\w+ given/] },
  { args: ["emulate", "now"], says: [/The command takes (?:no|\d) arguments?, and \d w\w+ given/] },
  { args: ["chat", "now"], says: [/The command takes (?:no|\d) arguments?, and \d w\w+ given/] },
  ...["doctr", "chta", "formts", "emulat", "explian", "complete", "rnu"].map((word) => ({
    args: [word],
    says: [/There is no command/, /Did you mean millrace/],
  })),
  ...[
    ["sevre", "--port", "0"],
    ["Serve"],
    ["replya", "bug.tape"],
    ["explian", "-b", "claude-code"],
    ["compar", "prompts.json", "-b", "offline"],
  ].map((args) => ({ args, says: [/There is no command/, /Did you mean millrace/, /millrace run "/] })),
  { args: ["--format", "ndjson", "hi"], says: [/--format/, /--exec/] },
  { args: ["--exec", "agent 'open", "hi"], says: [/--exec.*quote/, /Close it/] },
  { args: ["--exec", "   ", "hi"], says: [/--exec/, /empty/] },
  ...["|", "&&", ";", ">", "2>&1", "||", "<"].map((sign) => ({
    args: ["--exec", `agent --json ${sign} other`, "hi"],
    says: [/--exec.*for a shell/, /sh -c/],
  })),
  { args: ["--exec", "agent", "--format", "ndjsn", "hi"], says: [/ndjson/] },
  { args: ["--exec", "agent", "--backend", "offline", "hi"], says: [/--backend has no meaning with --exec/] },
  { args: ["--exec", "agent", "--image", "a.png", "hi"], says: [/--image has no meaning with --exec/] },
  { args: ["--exec", "agent", "--record", "a.tape", "hi"], says: [/--record has no meaning with --exec/] },
  { args: ["--exec", "agent", "--replay", "a.tape", "hi"], says: [/--replay has no meaning with --exec/] },
  { args: ["--on-difference", "warn", "hi"], says: [/--on-difference has no meaning without --replay/] },
  { args: ["--replay", "a.tape", "--on-difference", "ask", "hi"], says: [/--on-difference/, /error, warn/] },
  { args: ["--exec", "no-such-program-1 --json", "hi"], says: [/no-such-program-1/], code: 3 },
];

const hostile: Case[] = HOSTILE_TEXTS.flatMap((text) => [
  { args: [`--backend=${text}x/x`, "hi"], says: [/no backend/], isForeign: true },
  { args: [`--${text}`, "hi"], says: [/./], isForeign: true },
]);

const CASES: readonly Case[] = [...mistyped, ...wrongValues, ...wrongBackends, ...wrongFiles, ...wrongUse, ...hostile];

describe("R16: bad input on the command line", () => {
  it("has more than 300 cases", () => {
    expect(CASES.length - hostile.length).toBeGreaterThan(300);
  });

  it.each(CASES.map((one) => [JSON.stringify(one.args), one] as const))(
    "%s",
    async (_, { args, says, code = 2, input, isForeign = false }) => {
      const io = createMemoryIo({ cwd: folder, ...(input !== undefined && { input }) });
      const left = await main(args, io);
      for (const part of says) expect(io.stderr()).toMatch(part);
      expect({ left, stdout: io.stdout() }).toEqual({ left: code, stdout: "" });
      expect(io.stderr()).not.toMatch(/^\s+at .*[:(]\d/m);
      expect(isHarmless(io.stderr())).toBe(true);
      // F-F: no message is doubled, ends twice, or begins with a lower-case letter.
      if (!isForeign) expect(wordingFaults(io.stderr())).toEqual([]);
    },
  );
});
