import type { Chunk } from "millrace";
import {
  type Adapter,
  errorItem,
  type Format,
  type Frame,
  messageItem,
  noticeItem,
  startItem,
  textDelta,
} from "millrace/formats";

/** Lines of JSON: a text is a word of the answer, `true` its end. */
export const words: Format = {
  name: "words",
  framing: "ndjson",
  description: "One word per line.",
  createAdapter: () => new Words(),
};

class Words implements Adapter {
  private text = "";
  private isOver = false;
  private hasStarted = false;

  feed(frames: readonly Frame[]): Chunk[] {
    return frames.flatMap((frame) => (frame.kind === "data" ? this.read(frame.value, frame.text) : []));
  }

  flush(): Chunk[] {
    if (this.isOver) return [];
    this.isOver = true;
    return [errorItem({ code: "stream-cut", message: "The words have no end.", terminal: true })];
  }

  reset(): void {
    this.text = "";
    this.isOver = false;
    this.hasStarted = false;
  }

  private read(value: unknown, line: string): Chunk[] {
    if (this.isOver) return [];
    const chunks: Chunk[] = this.hasStarted ? [] : [startItem({ backend: "words", mode: "plain" })];
    this.hasStarted = true;
    if (typeof value === "string") {
      this.text += value;
      return value === "" ? chunks : [...chunks, textDelta("words-1", 0, value)];
    }
    if (value !== true) {
      const raw = { json: line, bytes: new TextEncoder().encode(line) };
      return [...chunks, noticeItem("unknown:line", line, { raw })];
    }
    this.isOver = true;
    const blocks = [{ type: "text" as const, text: this.text }];
    return [...chunks, messageItem({ id: "words-1", role: "assistant", blocks, stopReason: "end-turn" })];
  }
}
