import { StartError } from "#domain";

/** The whole of stdin as text. */
export async function readStdin(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  try {
    for await (const piece of input)
      text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    return text + decoder.decode();
  } catch (error) {
    throw new StartError("invalid-input", "stdin is not UTF-8 text. Convert it first, for instance with iconv.", {
      cause: error,
    });
  }
}
