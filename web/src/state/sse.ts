/** One frame of an event stream. */
export interface SseFrame {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Splits the text of an event stream into frames. The text may arrive in any pieces. */
export function createSseReader(): (text: string) => SseFrame[] {
  let rest = "";
  return (text) => {
    rest += text;
    const frames: SseFrame[] = [];
    // The server ends lines with a line feed alone, and frames with a blank line.
    for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
      const frame = readFrame(rest.slice(0, end));
      if (frame !== undefined) frames.push(frame);
      rest = rest.slice(end + 2);
    }
    return frames;
  };
}

function readFrame(text: string): SseFrame | undefined {
  let id = "";
  let event = "message";
  const data: string[] = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "id") id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { id, event, data: data.join("\n") };
}
