import { encodeSse } from "#wire";
import { checkOpenaiKey } from "../openai/check-tools.ts";
import { openaiErrors } from "../openai/errors.ts";
import type { Protocol } from "../protocol.ts";
import { checkResponses } from "./check.ts";
import { encodeResponsesStream, encodeResponsesTrouble, encodeResponsesWhole } from "./encode.ts";
import { createResponsesMemory } from "./memory.ts";
import { readResponsesPrompt } from "./read.ts";

/** `POST /v1/responses`. Each server has its own instance, because the vendor stores replies. */
export function createResponsesProtocol(): Protocol {
  return {
    name: "openai-responses",
    checkKey: checkOpenaiKey,
    check: (_, body) => checkResponses(body),
    read: (_, body) => readResponsesPrompt(body),
    streamType: () => "text/event-stream; charset=utf-8",
    encodeStream: (reply, { body }) => encodeResponsesStream(reply, body),
    encodeWhole: encodeResponsesWhole,
    encodeTrouble: encodeResponsesTrouble,
    malformedFrame: encodeSse({
      event: "response.output_text.delta",
      data: '{"type":"response.output_text.delta","del',
    }),
    errors: openaiErrors,
    memory: createResponsesMemory(),
  };
}
