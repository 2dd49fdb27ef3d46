import { type JsonRecord, ownString, ownValue } from "#wire";
import { invalid } from "../openai/invalid.ts";
import type { ProtocolMemory } from "../protocol.ts";
import { encodeOutput } from "./encode.ts";

/** How many replies are kept: enough for a few conversations, not for all. */
const MAX_REPLIES = 200;
const MAX_ITEMS = 20_000;

/** Keeps the newest replies with everything that led to them, for `previous_response_id`. */
export function createResponsesMemory(): ProtocolMemory {
  const known = new Map<string, readonly unknown[]>();
  let items = 0;
  return {
    expand(body) {
      const id = ownString(body, "previous_response_id");
      if (id === undefined) return body;
      const before = known.get(id);
      if (before === undefined) {
        throw invalid(
          "previous_response_id",
          `there is no response "${id}", or it was forgotten.`,
          "previous_response_not_found",
        );
      }
      return { ...body, input: [...before, ...inputOf(body)] };
    },
    remember(reply, body) {
      if (body.store === false) return;
      const whole = [...inputOf(body), ...encodeOutput(reply)];
      known.set(`resp_${reply.id}`, whole);
      items += whole.length;
      for (const [id, oldest] of known) {
        if (known.size <= MAX_REPLIES && items <= MAX_ITEMS) break;
        known.delete(id);
        items -= oldest.length;
      }
    },
  };
}

function inputOf(body: JsonRecord): readonly unknown[] {
  const input = ownValue(body, "input");
  return Array.isArray(input) ? input : [{ type: "message", role: "user", content: input ?? "" }];
}
