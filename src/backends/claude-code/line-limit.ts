import type { DecoderOptions } from "#dialects";

/** The decoder option for the CLI's maximum line length; empty for the default. */
export function limitLines(maxLineBytes: number | undefined): Pick<DecoderOptions, "limits"> {
  return maxLineBytes === undefined ? {} : { limits: { maxLineBytes } };
}
