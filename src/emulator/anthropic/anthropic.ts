import { encodeSse } from "#wire";
import type { Protocol } from "../protocol.ts";
import { checkAnthropic, checkAnthropicKey } from "./check.ts";
import { encodeAnthropicStream, encodeAnthropicTrouble, encodeAnthropicWhole } from "./encode.ts";
import { anthropicErrors } from "./errors.ts";
import { readAnthropicPrompt } from "./read.ts";

/** `POST /v1/messages` */
export const anthropicProtocol: Protocol = {
  name: "anthropic",
  checkKey: checkAnthropicKey,
  check: (request, body) => checkAnthropic(request, body, { counting: request.path.endsWith("/count_tokens") }),
  read: (_, body) => readAnthropicPrompt(body),
  streamType: () => "text/event-stream; charset=utf-8",
  encodeStream: encodeAnthropicStream,
  encodeWhole: encodeAnthropicWhole,
  encodeTrouble: encodeAnthropicTrouble,
  malformedFrame: encodeSse({
    event: "content_block_delta",
    data: '{"type":"content_block_delta","index":0,"delta":{"type":"te',
  }),
  errors: anthropicErrors,
};
