import { type Chunk, messageItem, TextBuilder, textDelta } from "#domain";
import type { Adapter, Format } from "./shared/format.ts";

const MESSAGE_ID = "text-1";

/**
 * Plain text: everything a command prints is its answer, in one message. It knows no end signal: whether the command
 * succeeded, its exit status says.
 *
 * @example
 * run(command(["cat"], { format: plainText }), "Hello")
 */
export const text: Format = {
  name: "text",
  framing: "text",
  description: "Plain text of any command: everything it prints is its answer.",
  createAdapter: () => new TextAdapter(),
};

class TextAdapter implements Adapter {
  private _said = new TextBuilder();

  feed(frames: Parameters<Adapter["feed"]>[0]): Chunk[] {
    const chunks: Chunk[] = [];
    for (const frame of frames) {
      if (frame.kind !== "data" || frame.text === "") continue;
      this._said.add(frame.text);
      chunks.push(textDelta(MESSAGE_ID, 0, frame.text));
    }
    return chunks;
  }

  flush(): Chunk[] {
    if (this._said.isEmpty) return [];
    const blocks = [{ type: "text", text: this._said.text() }] as const;
    this.reset();
    return [messageItem({ id: MESSAGE_ID, role: "assistant", blocks })];
  }

  reset(): void {
    this._said = new TextBuilder();
  }
}
