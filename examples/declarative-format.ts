// A stream dialect as data: which frames there are, where their fields stand. No code, so it may come from a file.
//
// Prints:
//   Reading the file.
//   read_file {"path":"notes.txt"}
//   notes.txt says hello
//   It says hello.
//   the same, cut into single bytes: true

import assert from "node:assert/strict";
import { createDeclarativeFormat, createDecoder } from "millrace/formats";

const format = createDeclarativeFormat({
  name: "my-agent",
  description: "The log of my agent",
  framing: "ndjson",
  events: [
    { match: { type: "say" }, kind: "message", extract: { text: "words" } },
    { match: { type: "call" }, kind: "tool-use", extract: { id: "id", name: "tool", input: "arguments" } },
    { match: { type: "answer" }, kind: "tool-result", extract: { id: "id", output: "value" } },
  ],
  end: { match: { type: "bye" }, extract: {} },
});

const log = [
  { type: "say", words: "Reading the file." },
  { type: "call", id: "1", tool: "read_file", arguments: { path: "notes.txt" } },
  { type: "answer", id: "1", value: "notes.txt says hello" },
  { type: "say", words: "It says hello." },
  { type: "bye" },
];
const bytes = new TextEncoder().encode(log.map((line) => `${JSON.stringify(line)}\n`).join(""));

const lines = decode([bytes]);
for (const line of lines) console.log(line);

const same = decode([...bytes].map((byte) => Uint8Array.of(byte)));
assert.deepEqual(same, lines);
console.log(`the same, cut into single bytes: ${same.length === lines.length}`);

function decode(pieces: readonly Uint8Array[]): string[] {
  const decoder = createDecoder(format);
  const chunks = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
  return chunks.flatMap((chunk) => {
    if (chunk.type === "text-delta") return [chunk.text];
    if (chunk.type === "tool-call") return [`${chunk.name} ${JSON.stringify(chunk.input)}`];
    return chunk.type === "tool-result" ? [String(chunk.output)] : [];
  });
}
