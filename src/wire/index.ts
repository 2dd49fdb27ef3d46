export type { DataFrame, FaultCode, FaultyFrame, Frame, Framer, Framing, WireLimits } from "./frame.ts";
export { rawOf } from "./frame.ts";
