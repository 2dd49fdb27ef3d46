import { noticeItem } from "#domain";
import { type SilenceWatch, watchSilence } from "#streams";
import type { AgentLink } from "../../backend.ts";
import { type ConversationPlan, SILENCE } from "./plan.ts";

/** Watches one turn of the CLI: a notice reports a silence, and `onExpire` is called if it is too long. */
export function watchTurn(
  { world, idleMs }: ConversationPlan,
  link: AgentLink,
  onExpire: (silentMs: number) => void,
): SilenceWatch {
  return watchSilence({
    clock: world.clock,
    firstMs: idleMs,
    betweenMs: idleMs,
    noticeMs: Math.min(SILENCE.noticeMs, idleMs),
    onNotice: (silentMs) => {
      link.write([noticeItem("stall", { silentMs })])?.catch(() => undefined);
    },
    onExpire,
  });
}
