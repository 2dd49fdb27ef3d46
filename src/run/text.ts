import { type AgentEvent, createShownText, RunError, type RunResult } from "#domain";

/**
 * Extracts the text of the main conversation from events: each piece once, with a blank line between messages.
 *
 * Text comes from deltas; a `message` supplies only text that no delta has shown. If a retry retracts text that was
 * already returned, the new text is compared with it and only the part beyond it is returned. Where the two differ, the
 * text cannot be corrected any more, and a `RunError` (`text-retracted`) is thrown.
 */
export interface TextReader {
  /** Returns the text that this event adds, often none. */
  next(event: AgentEvent): string;
}

/** Separates the texts of two messages. */
const BETWEEN_MESSAGES = "\n\n";

/** Creates a text reader for one run. */
export function createTextReader(): TextReader {
  const shown = createShownText();
  /** Text that was returned and then retracted. Its replacement must begin with the same text. */
  let retractedText = "";
  /** The message whose text was returned last. Text that replaces retracted text continues it without a separator. */
  let lastMessageId: string | undefined;

  const give = (messageId: string, text: string): string => {
    let added = text;
    let separator = "";
    if (messageId !== lastMessageId) {
      if (lastMessageId !== undefined && retractedText === "") separator = BETWEEN_MESSAGES;
      lastMessageId = messageId;
    }
    if (retractedText !== "") {
      const shared = Math.min(retractedText.length, text.length);
      if (text.slice(0, shared) !== retractedText.slice(0, shared)) throw retracted();
      retractedText = retractedText.slice(shared);
      added = text.slice(shared);
    }
    return separator === "" ? added : separator + added;
  };

  return {
    next(event) {
      if (event.type === "notice" && event.parent === undefined) retractedText += shown.retract(event)?.text ?? "";
      if (event.type !== "text-delta" && event.type !== "message") return "";
      const messageId = event.type === "message" ? event.id : event.messageId;
      let text = "";
      for (const piece of shown.read(event)) if (piece.kind === "text") text += give(messageId, piece.text);
      return text;
    },
  };
}

/**
 * Returns the error that `text()` and `output()` throw for a run that did not succeed, or `undefined` if it succeeded.
 */
export function failureOf(result: RunResult): RunError | undefined {
  if (result.status === "success") return undefined;
  if (result.status === "waiting") {
    const message = "The run was parked before it had an answer. Continue it with resumeRun.";
    return new RunError("run-parked", message, { result });
  }
  const code = result.error?.code ?? "aborted";
  const message = result.error?.message ?? `The run ended with ${result.subtype}.`;
  return new RunError(code, message, { diagnostic: result.error?.diagnostic, result });
}

function retracted(): RunError {
  return new RunError(
    "text-retracted",
    "Text that was already returned is no longer valid: the model started its answer again, and the new text differs. " +
      "Iterate the run's events and handle notices of kind 'retract' to show such answers.",
  );
}
