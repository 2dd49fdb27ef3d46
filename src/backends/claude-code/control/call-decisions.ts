import type { ErrorDetail } from "#domain";
import type { CallVerdict } from "#policy";
import type { ServerOutcome } from "#tools";
import type { AgentLink } from "../../backend.ts";
import { otherNamesOf } from "../cli-tools.ts";

/** The tool with which the CLI gives structured output. */
const OUTPUT_TOOL = "StructuredOutput";

/** The state of one tool call of a turn. */
export interface CallRecord {
  readonly name: string;
  readonly executedBy: "millrace" | "backend";
  /** The decision, possibly pending: a call is decided once, however often it is asked about. */
  verdict?: Promise<CallVerdict> | undefined;
  /** Why it does not run. */
  denial?: string | undefined;
  /** The CLI's working folder, from which relative paths of the call start. */
  cwd?: string | undefined;
  /** We have run it. It is not run a second time. */
  hasRun: boolean;
  /** The result to report, if it is ours to define. */
  answer?: ServerOutcome | undefined;
  /** Notes of hooks for the model that are not delivered yet. */
  notes: string[];
}

/** Actions on the current turn. */
export interface TurnControl {
  /** Ends the turn; the conversation may continue. */
  interrupt(): void;
  /** Ends the turn and the conversation: something must not reach the model. */
  giveUp(error: ErrorDetail): void;
}

/** The decisions of one turn: its link, and what was decided so far. */
export class CallDecisions {
  readonly link: AgentLink;
  readonly control: TurnControl;
  /** The reason of the hook that ended the turn. */
  stopReason: string | undefined;
  /** How often a hook has made the agent continue. */
  sentBack = 0;
  /** The feedback that the agent was given then. */
  readonly feedback: string[] = [];
  private readonly _calls = new Map<string, CallRecord>();
  private _notes = 0;

  constructor(link: AgentLink, control: TurnControl) {
    this.link = link;
    this.control = control;
  }

  /** The record of a call; creates it for a new call. */
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
   * Asks the policy about a call, once: later calls get the same answer. `fresh` asks again, because the arguments
   * differ from those that were decided about.
   */
  decide(
    callId: string,
    record: CallRecord,
    { input, signal, fresh = false }: { input: unknown; signal?: AbortSignal | undefined; fresh?: boolean },
  ): Promise<CallVerdict> {
    if (record.verdict === undefined || fresh) {
      const { name, executedBy } = record;
      const finals = executedBy === "backend" ? [OUTPUT_TOOL] : (this.link.finalTools ?? []);
      const otherNames = executedBy === "backend" ? otherNamesOf(name) : [];
      const isFinal = finals.includes(name);
      const call = { callId, name, otherNames, input, executedBy, isFinal, signal, cwd: record.cwd };
      record.verdict = this.link.policy.checkCall(call).then((verdict) => {
        record.notes.push(...verdict.notes);
        if (verdict.kind === "denied") record.denial = verdict.reason;
        if (verdict.stop !== undefined) this.stopReason ??= verdict.stop;
        return verdict;
      });
    }
    return record.verdict;
  }

  /** Numbers the delivered notes, for their ids. */
  countNote(): number {
    this._notes += 1;
    return this._notes;
  }

  /** Takes the undelivered notes for the model, as one text. */
  takeNotes(record: CallRecord): string | undefined {
    const notes = record.notes.splice(0);
    return notes.length === 0 ? undefined : notes.join("\n");
  }
}
