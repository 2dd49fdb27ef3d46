import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../test/temporary-folder.ts";
import { findEngineComments, findUnknownWords, glossaryWords, typeNames, wordsOf } from "./words.mjs";

describe("the check of words", () => {
  it.each([
    ["RunState", ["run", "state"]],
    ["run-state", ["run", "state"]],
    ["HTTPReply", ["http", "reply"]],
    ["readUtf8", ["read", "utf"]],
  ])("reads the words of %s", (name, words) => {
    expect(wordsOf(name)).toEqual(words);
  });

  it("reads the names of types and classes", () => {
    expect(typeNames("interface Left { a: 1 } type Right = 2; class Middle {} const no = 3;")).toEqual([
      "Left",
      "Right",
      "Middle",
    ]);
  });

  it("reads the first column of the glossary", () => {
    expect([...glossaryWords("| word | meaning |\n|---|---|\n| run handle | what the caller holds |\n")]).toEqual([
      "word",
      "run",
      "handle",
    ]);
  });

  it("names a word that nobody explains, with the file, folder or type that has it", () => {
    const root = temporaryFolder("words");
    mkdirSync(join(root, "src", "streams"), { recursive: true });
    writeFileSync(join(root, "src", "streams", "latch.ts"), "export interface LazySieve {}");
    writeFileSync(join(root, "src", "streams", "latch.test.ts"), "interface Unseen {}");
    expect(findUnknownWords(root, ["src"], new Set(["streams", "lazy"]))).toEqual([
      { word: "latch", place: "src/streams/latch.ts" },
      { word: "sieve", place: "LazySieve in src/streams/latch.ts" },
    ]);
  });

  it("names a comment that explains the engine outside the folders for speed", () => {
    const root = temporaryFolder("words");
    const source = "const a = 'V8';\n/** One literal gives one hidden\n * class. */\nexport const b = a; // garbage\n";
    for (const folder of ["run", "wire", "sessions", "sessions/stores/sqlite"]) {
      mkdirSync(join(root, "src", folder), { recursive: true });
      writeFileSync(join(root, "src", folder, "file.ts"), source);
    }
    expect(findEngineComments(root, ["src"])).toEqual(
      ["run", "sessions"].flatMap((folder) => [
        { word: "hidden class", place: `src/${folder}/file.ts:2` },
        { word: "garbage", place: `src/${folder}/file.ts:4` },
      ]),
    );
  });
});
