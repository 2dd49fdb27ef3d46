import type { ErrorDetail } from "#domain";
import type { CallVerdict } from "#policy";
import type { ServerOutcome } from "#tools";
import type { AgentLink } from "../../backend.ts";

/** The tool the CLI gives an answer with that is to fit a schema. */
const OUTPUT_TOOL = "StructuredOutput";

/** What became of one tool call of a turn. */
export interface CallRecord {
  readonly name: string;
  readonly executedBy: "millrace" | "backend";
  /** The decision, or the wait for it: a call is decided once, however often it is asked about. */
  verdict?: Promise<CallVerdict> | undefined;
  /** Why it does not run. */
  denial?: string | undefined;
  /** The folder the CLI stands in, which relative paths of the call start from. */
  cwd?: string | undefined;
  /** We have run it. It is not run a second time. */
  hasRun: boolean;
  /** What the log is to say it came to, where that is ours to say. */
  answer?: ServerOutcome | undefined;
  /** Notes of hooks for the model, not given yet. */
  notes: string[];
}

/** What may be done about the turn while it goes on. */
export interface TurnControl {
  /** Ends the turn; the conversation may go on. */
  interrupt(): void;
  /** Ends the turn and the conversation: something must not come any further. */
  giveUp(error: ErrorDetail): void;
}

/** One turn of a conversation: whom we answer to, and what was decided so far. */
export class CallDecisions {
  readonly link: AgentLink;
  readonly control: TurnControl;
  /** A hook ends the turn for this reason. */
  stopReason: string | undefined;
  /** How often a hook has sent the agent back to work. */
  sentBack = 0;
  /** What it was told then. */
  readonly feedback: string[] = [];
  private readonly _calls = new Map<string, CallRecord>();
  private _notes = 0;

  constructor(link: AgentLink, control: TurnControl) {
    this.link = link;
    this.control = control;
  }

  /** The record of a call; a new one for a call not seen before. */
  call(callId: string, name: string, executedBy: "millrace" | "backend"): CallRecord {
    const known = this._calls.get(callId);
    if (known !== undefined) return known;
    const record: CallRecord = { name, executedBy, hasRun: false, notes: [] };
    this._calls.set(callId, record);
    return record;
  }

  find(callId: string): CallRecord | undefined {
    return this._calls.get(callId);
  }

  /**
   * Asks the policy about a call, once: whoever asks again gets the same answer. `fresh` asks anew, because the
   * arguments are others than those decided about.
   */
  decide(
    callId: string,
    record: CallRecord,
    { input, signal, fresh = false }: { input: unknown; signal?: AbortSignal | undefined; fresh?: boolean },
  ): Promise<CallVerdict> {
    if (record.verdict === undefined || fresh) {
      const { name, executedBy } = record;
      const finals = executedBy === "backend" ? [OUTPUT_TOOL] : (this.link.finalTools ?? []);
      const call = { callId, name, input, executedBy, isFinal: finals.includes(name), signal, cwd: record.cwd };
      record.verdict = this.link.policy.checkCall(call).then((verdict) => {
        record.notes.push(...verdict.notes);
        if (verdict.kind === "denied") record.denial = verdict.reason;
        if (verdict.stop !== undefined) this.stopReason ??= verdict.stop;
        return verdict;
      });
    }
    return record.verdict;
  }

  /** Numbers the notes that were given, for their ids. */
  countNote(): number {
    this._notes += 1;
    return this._notes;
  }

  /** Takes the notes for the model that were not given yet, as one text. */
  takeNotes(record: CallRecord): string | undefined {
    const notes = record.notes.splice(0);
    return notes.length === 0 ? undefined : notes.join("\n");
  }
}
