import { type JsonRecord, ownRecord, ownString } from "#wire";

/** A frame of the control protocol. Both sides use the same four. */
export type ControlFrame =
  | { readonly kind: "request"; readonly requestId: string; readonly request: JsonRecord }
  | { readonly kind: "response"; readonly requestId: string; readonly response: JsonRecord }
  | { readonly kind: "refusal"; readonly requestId: string; readonly error: string }
  | { readonly kind: "cancel"; readonly requestId: string }
  /** A keep-alive, or a control frame that cannot be answered because it lacks its id. */
  | { readonly kind: "idle" };

/** Whether a frame belongs to the control protocol and not to the stream of messages. */
export function isControlFrame(frame: JsonRecord): boolean {
  switch (frame.type) {
    case "control_request":
    case "control_response":
    case "control_cancel_request":
    case "keep_alive":
      return true;
    default:
      return false;
  }
}

/** Reads a control frame. Never throws; a frame without its id is `idle`. */
export function readControlFrame(frame: JsonRecord): ControlFrame {
  switch (frame.type) {
    case "control_request": {
      const requestId = ownString(frame, "request_id");
      return requestId === undefined
        ? { kind: "idle" }
        : { kind: "request", requestId, request: ownRecord(frame, "request") ?? {} };
    }
    case "control_response":
      return readResponse(ownRecord(frame, "response") ?? {});
    case "control_cancel_request": {
      const requestId = ownString(frame, "request_id");
      return requestId === undefined ? { kind: "idle" } : { kind: "cancel", requestId };
    }
    default:
      return { kind: "idle" };
  }
}

function readResponse(response: JsonRecord): ControlFrame {
  const requestId = ownString(response, "request_id");
  if (requestId === undefined) return { kind: "idle" };
  if (response.subtype === "success") {
    return { kind: "response", requestId, response: ownRecord(response, "response") ?? {} };
  }
  return { kind: "refusal", requestId, error: ownString(response, "error") ?? "no reason was given" };
}

export function requestLine(requestId: string, request: JsonRecord): string {
  return `${JSON.stringify({ type: "control_request", request_id: requestId, request })}\n`;
}

export function responseLine(requestId: string, response: JsonRecord): string {
  return `${JSON.stringify({ type: "control_response", response: { subtype: "success", request_id: requestId, response } })}\n`;
}

export function refusalLine(requestId: string, error: string): string {
  return `${JSON.stringify({ type: "control_response", response: { subtype: "error", request_id: requestId, error } })}\n`;
}
