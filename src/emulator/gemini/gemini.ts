import type { Protocol } from "../protocol.ts";
import type { ApiRequest } from "../request.ts";
import { checkGemini, checkGeminiKey } from "./check.ts";
import { encodeGeminiStream, encodeGeminiTrouble, encodeGeminiWhole } from "./encode.ts";
import { geminiErrors } from "./errors.ts";
import { recordOf } from "./fields.ts";
import { readGeminiPrompt } from "./read.ts";

/** `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent` */
export const geminiProtocol: Protocol = {
  name: "gemini",
  checkKey: checkGeminiKey,
  check: (request, body) => checkGemini(modelOf(request), recordOf(body, "generateContentRequest") ?? body),
  read: (request, body) =>
    readGeminiPrompt(
      modelOf(request),
      recordOf(body, "generateContentRequest") ?? body,
      request.path.endsWith(":streamGenerateContent"),
    ),
  streamType: (request) => (formOf(request) === "sse" ? "text/event-stream" : "application/json; charset=UTF-8"),
  encodeStream: (reply, { request }) => encodeGeminiStream(reply, formOf(request)),
  encodeWhole: encodeGeminiWhole,
  encodeTrouble: (trouble, request) => encodeGeminiTrouble(trouble, formOf(request)),
  malformedFrame: 'data: {"candidates":[{"content":{"parts":[{"te\r\n\r\n',
  errors: geminiErrors,
};

function formOf(request: ApiRequest): "sse" | "list" {
  return request.query.get("alt") === "sse" ? "sse" : "list";
}

/** The model's name is part of the path: `/v1beta/models/<name>:<method>`. */
function modelOf(request: ApiRequest): string {
  const end = request.path.lastIndexOf(":");
  const start = request.path.lastIndexOf("/", end);
  return end > start ? request.path.slice(start + 1, end) : "";
}
