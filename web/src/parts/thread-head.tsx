import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { factsOf } from "../format.ts";
import { api, type ExportFormat, type Thread } from "../state/api.ts";
import { Dialog } from "./dialog.tsx";
import { Menu } from "./menu.tsx";

interface ThreadHeadProps {
  readonly thread: Thread;
  readonly model: string | undefined;
  readonly onChange: () => void;
  readonly onRemove: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** The title of the thread, its target, its cost, and its actions. */
export function ThreadHead({ thread, model, onChange, onRemove, onFailure }: ThreadHeadProps): VNode {
  const [asking, setAsking] = useState<"rename" | "delete" | undefined>(undefined);
  const [title, setTitle] = useState("");
  const close = (): void => setAsking(undefined);
  const rename = (): void => {
    if (title.trim() === "") return;
    close();
    api.rename(thread.id, title.trim()).then(onChange, onFailure);
  };
  const remove = (): void => {
    close();
    api.remove(thread.id).then(onRemove, onFailure);
  };
  const save = (format: ExportFormat): void => {
    exportThread(thread, format).catch(onFailure);
  };

  return (
    <div class="thread-head">
      <div class="thread-names">
        <h1>{thread.title || "New thread"}</h1>
        <p class="facts">
          <span class="target">{thread.target}</span>
          {model !== undefined && !thread.target.endsWith(model) && <span class="model">{model}</span>}
          {factsOf(thread).map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      </div>
      <Menu
        label="Thread actions"
        entries={[
          {
            label: "Rename",
            onChoose: () => {
              setTitle(thread.title);
              setAsking("rename");
            },
          },
          { label: "Export as Markdown", onChoose: () => save("markdown") },
          { label: "Export as JSONL", onChoose: () => save("jsonl") },
          { label: "Delete", isDangerous: true, onChoose: () => setAsking("delete") },
        ]}
      />
      {asking === "rename" && (
        <Dialog title="Rename thread" confirm="Rename" onConfirm={rename} onClose={close}>
          <input
            type="text"
            value={title}
            maxLength={200}
            aria-label="Title"
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </Dialog>
      )}
      {asking === "delete" && (
        <Dialog title="Delete thread?" confirm="Delete" isDangerous onConfirm={remove} onClose={close}>
          <p>“{thread.title || "New thread"}” and everything in it will be gone.</p>
        </Dialog>
      )}
    </div>
  );
}

async function exportThread({ id, title }: Thread, format: ExportFormat): Promise<void> {
  const url = URL.createObjectURL(await api.exported(id, format));
  const link = document.createElement("a");
  link.href = url;
  const name = title
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  link.download = `${name || "thread"}.${format === "markdown" ? "md" : "jsonl"}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
