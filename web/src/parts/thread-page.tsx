import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { useCell } from "../state/cell.ts";
import { waitsFor } from "../format.ts";
import {
  type Conversation,
  type ConversationState,
  isRunning,
  openQuestions,
  parkedCall,
} from "../state/conversation.ts";
import { Approval } from "./approval.tsx";
import { Banner } from "./banner.tsx";
import { Composer } from "./composer.tsx";
import { ThreadHead } from "./thread-head.tsx";
import { Transcript } from "./transcript.tsx";

interface ThreadPageProps {
  readonly conversation: Conversation;
  readonly onChange: () => void;
  /** The thread was deleted. */
  readonly onRemove: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** One thread: its head, the conversation, and the input field. */
export function ThreadPage({ conversation, onChange, onRemove, onFailure }: ThreadPageProps): VNode {
  const state = useCell(conversation.state);
  const running = isRunning(state);
  const [question, ...others] = openQuestions(state);
  useEffect(() => {
    const title = state.thread?.title || "New thread";
    document.title = `${question === undefined ? "" : "● "}${title} · Millrace`;
  }, [state.thread?.title, question === undefined]);
  useEffect(() => {
    if (!running) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) conversation.stop().catch(onFailure);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [conversation, running]);

  if (state.phase !== "ready" || state.thread === undefined) return <Absent phase={state.phase} />;
  return (
    <main class="thread-page" id="main">
      <ThreadHead
        thread={state.thread}
        model={modelOf(state)}
        onFailure={onFailure}
        onChange={() => {
          onChange();
          conversation.refresh().catch(onFailure);
        }}
        onRemove={() => {
          location.hash = "#/";
          onRemove();
        }}
      />
      <Transcript state={state} />
      <div class="dock">
        <div class="column">
          {state.isLost && running && <Banner level="info" text="The connection is lost. Trying again …" />}
          {state.failure !== undefined && (
            <Banner level="error" text={state.failure} onDismiss={() => conversation.dismissFailure()} />
          )}
          {question !== undefined && (
            <Approval
              key={question.callId}
              question={question}
              count={others.length + 1}
              onAnswer={(decision) => conversation.answer(question.callId, decision)}
            />
          )}
          <Composer
            draftId={conversation.id}
            isRunning={running}
            onSend={(text) => conversation.send(text)}
            onStop={() => {
              conversation.stop().catch(onFailure);
            }}
          />
          <p class="off-screen" role="status">
            {statusOf(state, question?.name)}
          </p>
        </div>
      </div>
    </main>
  );
}

/** The model that answers, according to the last run that named one. */
function modelOf({ run, earlier }: ConversationState): string | undefined {
  return run.model ?? earlier.findLast(({ view }) => view.model !== undefined)?.view.model;
}

/** The status of the run for screen readers; the answer itself is read when it is finished. */
function statusOf(state: ConversationState, asked: string | undefined): string {
  if (asked !== undefined) return `${asked} needs your permission.`;
  const parked = parkedCall(state);
  if (parked !== undefined) return `${waitsFor(parked.until, `the result of ${parked.name}`)}.`;
  if (isRunning(state)) return "Working on an answer.";
  if (state.run.seq === -1) return "";
  return {
    success: "The answer is finished.",
    error: "The run failed.",
    aborted: "Stopped.",
    interrupted: "Interrupted.",
    running: "",
    waiting: "Waiting.",
  }[state.run.status];
}

function Absent({ phase }: { readonly phase: ConversationState["phase"] }): VNode {
  return (
    <main class="absent" id="main">
      {phase === "loading" && <span class="spinner" role="status" aria-label="Loading" />}
      {phase === "missing" && (
        <>
          <h1>There is no such thread</h1>
          <p>It may have been deleted.</p>
          <a class="primary" href="#/">
            New thread
          </a>
        </>
      )}
      {phase === "unreachable" && (
        <>
          <h1>The server cannot be reached</h1>
          <p>Trying again every few seconds.</p>
        </>
      )}
    </main>
  );
}
