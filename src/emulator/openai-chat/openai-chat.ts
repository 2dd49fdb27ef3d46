import { encodeSse } from "#wire";
import { checkOpenaiKey } from "../openai/check-tools.ts";
import { openaiErrors } from "../openai/errors.ts";
import type { Protocol } from "../protocol.ts";
import { checkChat } from "./check.ts";
import { encodeChatStream, encodeChatTrouble, encodeChatWhole } from "./encode.ts";
import { readChatPrompt } from "./read.ts";

/** `POST /v1/chat/completions` */
export const chatProtocol: Protocol = {
  name: "openai-chat",
  checkKey: checkOpenaiKey,
  check: (_, body) => checkChat(body),
  read: (_, body) => readChatPrompt(body),
  streamType: () => "text/event-stream; charset=utf-8",
  encodeStream: (reply, { body }) => encodeChatStream(reply, body),
  encodeWhole: encodeChatWhole,
  encodeTrouble: encodeChatTrouble,
  malformedFrame: encodeSse({ data: '{"id":"chatcmpl-x","object":"chat.completion.chunk","choices":[{"index":0,"del' }),
  errors: openaiErrors,
};
