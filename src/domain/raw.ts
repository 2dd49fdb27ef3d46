/**
 * One frame exactly as it came off the wire.
 *
 * `bytes` are untouched: no re-encoding, no line end. `json` is their UTF-8 reading, or `""` when they are not UTF-8.
 */
export interface Raw {
  readonly json: string;
  readonly bytes: Uint8Array;
}
