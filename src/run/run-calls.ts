import {
  type Chunk,
  type ChunkOf,
  type PermissionItem,
  type Skipped,
  type ToolResultItem,
  toolResultItem,
} from "#domain";

/** The tool calls of a run: which are open, and how they were decided. Nothing else records which calls are open. */
export class RunCalls {
  /** Unanswered calls: id to tool name. `_made` also keeps answered ones, so that a second answer is noticed. */
  private readonly _open = new Map<string, string>();
  private readonly _made = new Set<string>();
  /** How each call was last decided, or that it was asked about. Created on first use: most runs decide nothing. */
  private _decisions: Map<string, PermissionItem["state"]> | undefined;

  /** Unanswered calls: id to tool name. */
  get open(): ReadonlyMap<string, string> {
    return this._open;
  }

  isMade(callId: string): boolean {
    return this._made.has(callId);
  }

  /** Whether the call is open, and a question about it has no answer yet. */
  isAsked(callId: string): boolean {
    return this._decisions?.get(callId) === "asked" && this._open.has(callId);
  }

  /** Records an item of the run. A permission may precede its call. */
  note(item: Chunk): void {
    if (item.type === "tool-call") {
      this._made.add(item.callId);
      this._open.set(item.callId, item.name);
    } else if (item.type === "tool-result") this._open.delete(item.callId);
    else if (item.type === "permission") {
      this._decisions ??= new Map();
      this._decisions.set(item.callId, item.state);
    }
  }

  /** Returns an answer for each open call. Afterwards none is open. */
  answerOpen(skipped: Skipped, why: string): ChunkOf<ToolResultItem>[] {
    const answers = [...this._open].map(([callId, name]) => {
      // Whatever ended the run, a denied call did not run because it was denied.
      const reason = this._decisions?.get(callId) === "denied" ? "denied" : skipped;
      return toolResultItem({ callId, name, output: why, isError: true, skipped: reason });
    });
    this._open.clear();
    return answers;
  }
}
