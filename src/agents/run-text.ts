import { type AgentEvent, isDelta, RunError, type RunResult, type Retraction } from "#domain";

/**
 * The text of the main conversation out of events, each piece once, with a blank line between messages.
 *
 * Deltas bring it; a `message` brings the text of blocks that no delta showed. When a retry makes text void that was
 * already given, the new text is matched against it and only what goes beyond it is given; where the two differ,
 * there is no honest way on, and a `RunError` (`text-retracted`) says so.
 */
export interface TextReader {
  /** The text this event adds, often none. */
  next(event: AgentEvent): string;
}

/** What stands between the texts of two messages. */
const BETWEEN_MESSAGES = "\n\n";

/** Creates a text reader for one run. */
export function createTextReader(): TextReader {
  /** What was given of each unfinished message, by block: needed to know what a retraction makes void. */
  const given = new Map<string, Map<number, string[]>>();
  /** Text given and then retracted: its replacement has to say it again. */
  let owed = "";
  /** The message whose text was given last. What replaces retracted text goes on in its place. */
  let speaking: string | undefined;

  const give = (messageId: string, index: number, text: string): string => {
    let fresh = text;
    let separator = "";
    if (messageId !== speaking && text !== "") {
      if (speaking !== undefined && owed === "") separator = BETWEEN_MESSAGES;
      speaking = messageId;
    }
    if (owed !== "") {
      const shared = Math.min(owed.length, text.length);
      if (text.slice(0, shared) !== owed.slice(0, shared)) throw retracted();
      owed = owed.slice(shared);
      fresh = text.slice(shared);
    }
    let blocks = given.get(messageId);
    if (blocks === undefined) given.set(messageId, (blocks = new Map()));
    const parts = blocks.get(index);
    if (parts === undefined) blocks.set(index, [text]);
    else parts.push(text);
    return separator === "" ? fresh : separator + fresh;
  };

  const retract = ({ messageId, fromIndex = 0 }: Retraction): void => {
    const blocks = given.get(messageId);
    if (blocks === undefined) return;
    for (const [index, parts] of [...blocks]) {
      if (index < fromIndex) continue;
      owed += parts.join("");
      blocks.delete(index);
    }
  };

  return {
    next(event) {
      if (event.parent !== undefined) return "";
      if (event.type === "text-delta") return give(event.messageId, event.index, event.text);
      if (isDelta(event)) return "";
      if (event.type === "notice" && event.kind === "retract") retract(event.data as Retraction);
      if (event.type !== "message" || event.role !== "assistant") return "";
      const shown = given.get(event.id);
      let text = "";
      event.blocks.forEach((block, index) => {
        if (block.type === "text" && shown?.has(index) !== true) text += give(event.id, index, block.text);
      });
      // Kept as a mark without its text: the same message may come again with further blocks.
      given.set(
        event.id,
        new Map(event.blocks.flatMap((block, index) => (block.type === "text" ? [[index, []]] : []))),
      );
      return text;
    },
  };
}

/** What `text()` and `output()` throw for a run that did not succeed; `undefined` if it did. */
export function failureOf(result: RunResult): RunError | undefined {
  if (result.status === "success") return undefined;
  const code = result.error?.code ?? "aborted";
  const message = result.error?.message ?? `The run ended with ${result.subtype}.`;
  return new RunError(code, message, { diagnostic: result.error?.diagnostic, result });
}

function retracted(): RunError {
  return new RunError(
    "text-retracted",
    "Text that was already given became void: the model's answer was started again and reads differently. " +
      "Iterate the run's events and handle notices of kind 'retract' to show such answers.",
  );
}
