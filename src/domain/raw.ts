/**
 * One frame exactly as it came from the wire.
 *
 * `bytes` are unchanged: not re-encoded, without a line end. `json` is their text, or `""` if they are not UTF-8.
 */
export interface Raw {
  readonly json: string;
  readonly bytes: Uint8Array;
}
