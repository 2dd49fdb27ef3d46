import type { ChunkOf, ResultItem } from "#domain";

/** The CLI's messages about a missing session, and our replacement with the meaning and the remedy. */
const SENTENCES: readonly (readonly [RegExp, (name: string) => string])[] = [
  [
    /^No conversation found with session ID: (\S{1,200})/,
    (id) =>
      `Claude Code has no session ${id} for this folder; it keeps sessions by folder. Check the id and the folder, or leave session.resume out.`,
  ],
  [
    /--resume requires a valid session ID[^]{0,400}Provided value "([^"]{0,200})"/,
    (name) =>
      `Claude Code has no session with the id or the title "${name}". Give session.resume the session id of an earlier run in this folder, or leave it out.`,
  ],
  [
    /^No conversation found to continue/,
    () => "There is no earlier session of Claude Code in this folder to continue. Leave session.continue out.",
  ],
];

/** Adds a remedy to a failed verdict if the CLI's own message has none. */
export function explainVerdict(chunk: ChunkOf<ResultItem>): ChunkOf<ResultItem> {
  const said = chunk.isError ? chunk.message : undefined;
  if (said === undefined) return chunk;
  for (const [pattern, write] of SENTENCES) {
    const found = pattern.exec(said);
    if (found !== null) return { ...chunk, message: write(found[1] ?? "") };
  }
  return chunk;
}
