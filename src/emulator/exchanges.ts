import type { ApiRequest } from "./request.ts";

/** What is under way, so that it can be ended, and what was received, so that it can be looked at. */
export interface Exchanges {
  log(request: ApiRequest): void;
  /** Lets closing the server abort this one; aborts it at once when that has happened. Returns how to end that. */
  track(controller: AbortController): () => void;
}
