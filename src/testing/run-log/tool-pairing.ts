import type { PermissionItem, ToolCallItem, ToolResultItem } from "#domain";
import type { Check, Report } from "./check.ts";

interface Call {
  readonly item: ToolCallItem;
  answer?: ToolResultItem;
}

/** Every call is answered once, and a call that was not allowed is not run. */
export function checkToolPairing(report: Report): Check {
  const calls = new Map<string, Call>();
  const permissions = new Map<string, PermissionItem["state"]>();
  let over = false;

  const answer = (item: ToolResultItem, at: number): void => {
    const call = calls.get(item.callId);
    if (call === undefined) return report("result-after-call", at, `no tool call ${item.callId} was made before this`);
    if (call.item.name !== item.name) {
      report("result-after-call", at, `${item.callId} calls ${call.item.name}, the result says ${item.name}`);
    }
    if (call.answer !== undefined) return report("one-result-per-call", at, `${item.callId} is answered a second time`);
    call.answer = item;
    checkAllowed(call, at);
  };

  const decide = (item: PermissionItem, at: number): void => {
    // A denial is final: a later permission does not change it.
    if (permissions.get(item.callId) !== "denied") permissions.set(item.callId, item.state);
    const call = calls.get(item.callId);
    if (call?.answer !== undefined && item.state === "denied") checkAllowed(call, at);
  };

  const checkAllowed = ({ item, answer: given }: Call, at: number): void => {
    if (item.executedBy !== "millrace") return;
    const state = permissions.get(item.callId);
    // An abort denies calls that are still undecided; such a call may then be answered as aborted.
    if (state === "denied" && given?.skipped !== "denied" && given?.skipped !== "aborted") {
      report("denied-not-run", at, `${item.callId} was denied, its result has skipped ${given?.skipped ?? "absent"}`);
    }
    if (state === "asked" && given?.skipped === undefined) {
      report("no-allow-no-run", at, `${item.callId} ran while its permission was still asked for`);
    }
  };

  return {
    next(event, at) {
      if (over) return;
      if (event.type === "tool-call") {
        if (calls.has(event.callId)) report("unique-call-id", at, `${event.callId} was used by an earlier call`);
        else calls.set(event.callId, { item: event });
      } else if (event.type === "tool-result") answer(event, at);
      else if (event.type === "permission") decide(event, at);
      else if (event.type === "done") {
        over = true;
        for (const { item, answer: given } of calls.values()) {
          if (given === undefined)
            report("one-result-per-call", at, `${item.callId} (${item.name}) was never answered`);
        }
      }
    },
  };
}
