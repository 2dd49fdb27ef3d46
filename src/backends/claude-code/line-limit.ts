import type { DecoderOptions } from "#dialects";

/** The limit of the CLI's lines as the decoder takes it; nothing where the default holds. */
export function limitLines(maxLineBytes: number | undefined): Pick<DecoderOptions, "limits"> {
  return maxLineBytes === undefined ? {} : { limits: { maxLineBytes } };
}
