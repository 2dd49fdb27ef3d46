import { type ChunkOf, type NoticeItem, noticeItem } from "#domain";
import { readReportState } from "#tools";

/** Returns the notice for a progress report of a running tool. */
export function stateNotice(
  { callId, name }: { readonly callId: string; readonly name: string },
  state: unknown,
): ChunkOf<NoticeItem> {
  const report = readReportState(state);
  if (report === undefined) return noticeItem("tool-progress", { callId, name, state });
  const { kind, ...reported } = report;
  return noticeItem(kind, { callId, name, ...reported });
}
