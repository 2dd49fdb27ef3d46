export { cutEvent, decodeEvent, decodeEventValue, encodeEvent, encodeEventInSlices } from "./event-codec.ts";
export type {
  DataFrame,
  FaultCode,
  FaultyFrame,
  Frame,
  Framer,
  Framing,
  WireLimits,
} from "./frame.ts";
export { rawOf } from "./frame.ts";
export { createFramer } from "./framer.ts";
export type { JsonRecord } from "./json.ts";
export { JsonAhead, JsonBuilder } from "./json-ahead.ts";
export { isRecord, ownArray, ownBoolean, ownNumber, ownRecord, ownString, ownValue, parseJson } from "./json.ts";
export { DEFAULT_WIRE_LIMITS, LARGEST_LINE_LIMIT, MAX_CONSECUTIVE_FAULTS } from "./limits.ts";
export { createNdjsonFramer } from "./ndjson.ts";
export { createSseFramer } from "./sse-decoder.ts";
export { encodeEventSse, encodeEventSseInSlices, encodeSse } from "./sse-encoder.ts";
export type { LongText } from "./json-slices.ts";
export { cutJson, encodeInSlices, endOfPiece, JsonInText, measureJson } from "./json-slices.ts";
