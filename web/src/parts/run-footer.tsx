import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { factsOf, formatDuration } from "../format.ts";
import type { RunView } from "../state/run-view.ts";
import { CopyButton } from "./copy-button.tsx";
import { When } from "./when.tsx";

/** What the answer used; while it is being written, the elapsed time. */
export function RunFooter({
  run,
  isRunning,
  node,
  waiting,
  isEarlier = false,
}: {
  readonly run: RunView;
  readonly isRunning: boolean;
  /** The node that works on an active run, if several share the work. */
  readonly node?: string | undefined;
  /** What an active run waits for; `undefined` while it works. */
  readonly waiting?: string | undefined;
  /** It is not the latest run. */
  readonly isEarlier?: boolean;
}): ComponentChildren {
  if (isRunning) return <Working startedAt={run.startedAt} model={run.model} node={node} waiting={waiting} />;
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
  node,
  waiting,
}: {
  readonly startedAt: number | undefined;
  readonly model: string | undefined;
  readonly node: string | undefined;
  readonly waiting: string | undefined;
}): VNode {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = startedAt === undefined ? 0 : Math.max(0, Math.round((now - startedAt) / 1000));
  return (
    <footer class="run-footer working">
      {waiting === undefined && <span class="spinner" />}
      <span class="facts">
        <span class={waiting === undefined ? "shimmer" : undefined}>{waiting ?? "Working"}</span>
        {seconds > 0 && <span>{formatDuration(seconds * 1000)}</span>}
        {model !== undefined && <span>{model}</span>}
        {node !== undefined && waiting === undefined && <span class="node">on {node}</span>}
      </span>
    </footer>
  );
}
