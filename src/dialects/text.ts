import { type Chunk, messageItem, TextBuilder, textDelta } from "#domain";
import type { Adapter, Format } from "./shared/format.ts";

const MESSAGE_ID = "text-1";

/**
 * Plain text: everything a command prints is its answer, in one message. It has no end signal; the exit status shows
 * whether the command succeeded.
 *
 * @example
 * run(command(["cat"], { format: plainText }), "Hello")
 */
export const text: Format = {
  name: "text",
  framing: "text",
  description: "Plain text of any command: everything it prints is its answer",
  createAdapter: () => new TextAdapter(),
};

class TextAdapter implements Adapter {
  private _text = new TextBuilder();

  feed(frames: Parameters<Adapter["feed"]>[0]): Chunk[] {
    const chunks: Chunk[] = [];
    for (const frame of frames) {
      if (frame.kind !== "data" || frame.text === "") continue;
      this._text.add(frame.text);
      chunks.push(textDelta(MESSAGE_ID, 0, frame.text));
    }
    return chunks;
  }

  flush(): Chunk[] {
    if (this._text.isEmpty) return [];
    const blocks = [{ type: "text", text: this._text.text() }] as const;
    this.reset();
    return [messageItem({ id: MESSAGE_ID, role: "assistant", blocks })];
  }

  reset(): void {
    this._text = new TextBuilder();
  }
}
