import type { DataFrame } from "#wire";
import { compilePath } from "./path.ts";
import { refuse } from "./refusal.ts";

/** A path into a frame: into its JSON value, or to one of the frame's own properties. */
export interface FramePath {
  readonly collects: boolean;
  read(frame: DataFrame): unknown;
}

const PREFIX = "@frame.";

const FRAME_READERS: ReadonlyMap<string, (frame: DataFrame) => string> = new Map([
  ["event", (frame: DataFrame) => frame.name],
  ["id", (frame: DataFrame) => frame.id],
  ["text", (frame: DataFrame) => frame.text],
]);

/**
 * Compiles a path as `compilePath` does, and also `@frame.event`, `@frame.id` and `@frame.text`.
 *
 * @throws StartError `invalid-format`
 */
export function compileFramePath(source: string, where: string): FramePath {
  if (!source.startsWith(PREFIX)) {
    const path = compilePath(source, where);
    return { collects: path.collects, read: (frame) => path.read(frame.value) };
  }
  const read = FRAME_READERS.get(source.slice(PREFIX.length));
  if (read === undefined) {
    return refuse(where, source, "is not a property of a frame", "Write @frame.event, @frame.id or @frame.text.");
  }
  return { collects: false, read };
}
