import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { factsOf, formatDuration } from "../format.ts";
import type { RunView } from "../state/run-view.ts";
import { CopyButton } from "./copy-button.tsx";
import { When } from "./when.tsx";

/** What the answer took; while it is being written, how long so far. */
export function RunFooter({
  run,
  isRunning,
  isEarlier = false,
}: {
  readonly run: RunView;
  readonly isRunning: boolean;
  /** It is not the latest one. */
  readonly isEarlier?: boolean;
}): ComponentChildren {
  if (isRunning) return <Working startedAt={run.startedAt} model={run.model} />;
  if (run.seq === -1) return null;
  const facts = [...(run.model === undefined ? [] : [run.model]), ...factsOf(run)];
  const answer = (): string =>
    run.items.flatMap((item) => (item.kind === "text" && item.parent === undefined ? [item.text] : [])).join("\n\n");
  return (
    <footer class={isEarlier ? "run-footer earlier" : "run-footer"} aria-live="off">
      <span class="facts">
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {run.startedAt !== undefined && (
          <span>
            <When at={run.startedAt} />
          </span>
        )}
      </span>
      {answer() !== "" && <CopyButton text={answer} label="Copy answer" />}
    </footer>
  );
}

function Working({
  startedAt,
  model,
}: {
  readonly startedAt: number | undefined;
  readonly model: string | undefined;
}): VNode {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = startedAt === undefined ? 0 : Math.max(0, Math.round((now - startedAt) / 1000));
  return (
    <footer class="run-footer working">
      <span class="spinner" />
      <span class="facts">
        <span class="shimmer">Working</span>
        {seconds > 0 && <span>{formatDuration(seconds * 1000)}</span>}
        {model !== undefined && <span>{model}</span>}
      </span>
    </footer>
  );
}
