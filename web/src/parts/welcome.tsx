import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { adviceFor } from "../../../src/domain/advice.ts";
import { api, type Targets } from "../state/api.ts";
import { routeOf } from "../state/route.ts";
import { storageKey } from "../state/storage.ts";
import { Banner } from "./banner.tsx";
import { Composer } from "./composer.tsx";
import { TargetPicker } from "./target-picker.tsx";

const KEPT_TARGET = "target";
/** The draft of a thread that does not exist yet. */
const NEW_THREAD = "new";
const EXAMPLES = [
  "What is 25 + 17?",
  "Explain server-sent events in three sentences.",
  "Write a haiku about a water mill.",
  "Give me a checklist for a code review.",
];

interface WelcomeProps {
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** The start page for a new thread. */
export function Welcome({ onChange, onFailure }: WelcomeProps): VNode {
  const [targets, setTargets] = useState<Targets | undefined>(undefined);
  const [target, setTarget] = useState("");
  const [failure, setFailure] = useState<string | undefined>(undefined);
  const [example, setExample] = useState<string | undefined>(undefined);
  const fail = (error: unknown): void => {
    onFailure(error);
    setFailure(error instanceof Error ? error.message : String(error));
  };
  useEffect(() => {
    api.backends().then((found) => {
      setTargets(found);
      setTarget(firstChoice(found));
    }, fail);
  }, []);

  const send = async (text: string): Promise<boolean> => {
    setFailure(undefined);
    try {
      // A quick question may be sent before the list of targets has arrived.
      const thread = await api.createThread(target || firstChoice(targets ?? (await api.backends())));
      localStorage.setItem(storageKey(KEPT_TARGET), thread.target);
      await api.chat(thread.id, text).catch(async (error: unknown) => {
        // The thread is still empty, so it is removed again.
        await api.remove(thread.id).catch(() => undefined);
        throw error;
      });
      onChange();
      location.hash = routeOf(thread.id);
      return true;
    } catch (error) {
      fail(error);
      return false;
    }
  };
  const missing = targets?.backends.filter(({ available }) => !available) ?? [];

  return (
    <main class="welcome" id="main">
      <div class="column">
        <h1>What shall we do?</h1>
        {failure !== undefined && <Banner level="error" text={failure} onDismiss={() => setFailure(undefined)} />}
        <Composer
          key={example}
          draftId={NEW_THREAD}
          suggested={example}
          isRunning={false}
          onSend={send}
          onStop={() => undefined}
        >
          <TargetPicker targets={targets} value={target} onPick={setTarget} />
        </Composer>
        <ul class="examples" aria-label="Examples">
          {EXAMPLES.map((text) => (
            <li key={text}>
              <button type="button" onClick={() => setExample(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
        {missing.length > 0 && (
          <details class="missing">
            <summary>{missing.length === 1 ? "1 backend is" : `${missing.length} backends are`} not set up</summary>
            <dl>
              {missing.map(({ target: name, reason }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{adviceFor("page", reason ?? "")}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </main>
  );
}

/** The target used last, if it is still available. */
function firstChoice({ backends, default: first }: Targets): string {
  const kept = localStorage.getItem(storageKey(KEPT_TARGET));
  return backends.some(({ target, available }) => available && target === kept) && kept !== null ? kept : first;
}
