// Here and nowhere else: decoding is a third of the work on a stream, and a TextDecoder three times as slow.
// oxlint-disable-next-line no-restricted-imports
import { isAscii, isUtf8, transcode } from "node:buffer";
import { type ReadText, readUtf8 as readSlowly } from "#wire";

// What a Node that was built without ICU lacks.
const canTranscode = typeof transcode === "function";

/**
 * Reads UTF-8 by the buffer's own means: on text that is nearly all ASCII, three times as fast as a `TextDecoder`.
 * Gives exactly what `readUtf8` of `wire` gives.
 */
export const readUtf8: ReadText = (bytes, start, end) => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  if (isAscii(view)) return view.toString("latin1");
  if (!isUtf8(view)) return undefined;
  return canTranscode ? transcode(view, "utf8", "ucs2").toString("ucs2") : readSlowly(bytes, start, end);
};
