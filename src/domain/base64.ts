// A multiple of three bytes, so that the pieces can be concatenated, and few enough to be the arguments of one call.
const PIECE_BYTES = 12_288;

/** Bytes as standard base64, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE_BYTES)));
  }
  return text;
}

/** The bytes of a base64 text; `undefined` if it is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
