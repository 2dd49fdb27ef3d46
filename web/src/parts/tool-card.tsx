import type { VNode } from "preact";
import { formatDuration, formatValue, summariseInput, waitsFor } from "../format.ts";
import type { ToolItem } from "../state/items.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icons.tsx";

/** Longer texts are cut on the page; copying gives the whole text. */
const LONGEST_SHOWN = 20_000;

/** A tool call: its input, its output and its duration. */
export function ToolCard({ tool, isStopped }: { readonly tool: ToolItem; readonly isStopped: boolean }): VNode {
  const face = statusOf(tool, isStopped);
  const input = tool.input === undefined ? tool.json : formatValue(tool.input);
  return (
    <details class={`tool ${face.look}${tool.parent === undefined ? "" : " nested"}`} open={face.look === "bad"}>
      <summary>
        <span class="tool-mark">{face.look === "busy" ? <span class="spinner" /> : <Icon name={face.icon} />}</span>
        <span class="tool-name">{tool.name}</span>
        <span class="tool-gist">{summariseInput(tool.input)}</span>
        <span class="tool-state">{face.word}</span>
        {tool.ms !== undefined && tool.skipped === undefined && (
          <span class="tool-time">{formatDuration(tool.ms)}</span>
        )}
        <Icon name="chevron" />
      </summary>
      <div class="tool-body">
        {tool.verdict !== undefined && <p class="tool-verdict">{tool.verdict}</p>}
        <Value title="Input" text={input} empty="No input" />
        {tool.state === "done" && tool.output !== tool.verdict && (
          <Value title={tool.isError ? "Error" : "Result"} text={formatValue(tool.output)} empty="Nothing" />
        )}
      </div>
    </details>
  );
}

interface CardStatus {
  readonly look: "busy" | "good" | "bad" | "asked" | "parked" | "skipped";
  readonly icon: "check" | "error" | "shield" | "close" | "clock";
  readonly word: string;
}

function statusOf({ state, until, isError, skipped, verdict }: ToolItem, isStopped: boolean): CardStatus {
  if (state === "asked" && !isStopped) return { look: "asked", icon: "shield", word: "Waiting for you" };
  if (state !== "done") {
    if (isStopped) return { look: "skipped", icon: "close", word: "Not finished" };
    if (state === "parked") return { look: "parked", icon: "clock", word: waitsFor(until, "a result") };
    return { look: "busy", icon: "check", word: state === "writing" ? "Preparing" : "Running" };
  }
  if (skipped === "denied" || verdict !== undefined) return { look: "bad", icon: "shield", word: "Denied" };
  if (skipped === "aborted") return { look: "skipped", icon: "close", word: "Not finished" };
  if (skipped !== undefined) return { look: "skipped", icon: "close", word: "Not run" };
  return isError ? { look: "bad", icon: "error", word: "Failed" } : { look: "good", icon: "check", word: "Done" };
}

function Value({
  title,
  text,
  empty,
}: {
  readonly title: string;
  readonly text: string;
  readonly empty: string;
}): VNode {
  const shown =
    text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}\n… ${text.length} characters in all` : text;
  return (
    <section class="value">
      <header>
        <h5>{title}</h5>
        {text !== "" && <CopyButton text={() => text} label={`Copy ${title.toLowerCase()}`} />}
      </header>
      {text === "" ? <p class="faint">{empty}</p> : <pre tabIndex={0}>{shown}</pre>}
    </section>
  );
}
