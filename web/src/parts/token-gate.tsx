import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { keepToken, readToken } from "../state/http.ts";

/** Asks for the server's token. Kept until the tab is closed. */
export function TokenGate(): VNode {
  const [token, setToken] = useState("");
  const wasWrong = readToken() !== null;
  const enter = (): void => {
    if (token.trim() === "") return;
    keepToken(token.trim());
    location.reload();
  };
  return (
    <main class="gate" id="main">
      <div class="gate-card">
        <img src="/icon.svg" alt="" width={44} height={44} />
        <h1>Token needed</h1>
        <p>{wasWrong ? "The server did not accept that token." : "Enter the token this server was started with."}</p>
        <input
          type="password"
          value={token}
          autocomplete="off"
          aria-label="Token"
          aria-invalid={wasWrong}
          onInput={(event) => setToken(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") enter();
          }}
        />
        <button type="button" class="primary" disabled={token.trim() === ""} onClick={enter}>
          Continue
        </button>
      </div>
    </main>
  );
}
