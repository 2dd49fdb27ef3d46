import type { ApiRequest } from "./request.ts";

/** The open exchanges, so that they can be ended, and the log of requests. */
export interface Exchanges {
  log(request: ApiRequest): void;
  /**
   * Makes closing the server abort this controller, at once if the server is already closed. Returns a function that
   * undoes it.
   */
  track(controller: AbortController): () => void;
}
