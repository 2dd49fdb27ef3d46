import { type NoticeItem, noticeItem } from "#domain";
import { readReportState } from "#tools";

/** What a tool says while it works, as readers are told. */
export function stateNotice(
  { callId, name }: { readonly callId: string; readonly name: string },
  state: unknown,
): NoticeItem {
  const report = readReportState(state);
  if (report === undefined) return noticeItem("tool-progress", { callId, name, state });
  const { kind, ...reported } = report;
  return noticeItem(kind, { callId, name, ...reported });
}
