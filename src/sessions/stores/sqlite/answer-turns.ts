import type { Clock } from "#domain";

/** How many characters are taken in one turn of the event loop. */
const TURN_CHARACTERS = 131_072;

/** Less than this does not wait: requests for it must not be delayed by large reads. */
const SMALL_CHARACTERS = 8192;

interface Waiting {
  readonly characters: number;
  readonly resolve: () => void;
}

/**
 * Distributes what the worker answers over turns of the event loop. Answers arrive as fast as the worker reads, and Node
 * delivers up to a thousand of them in one turn, each of which may lead to the next request.
 */
export class AnswerTurns {
  private readonly _clock: Clock;
  private readonly _waiting: Waiting[] = [];
  private _taken = 0;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** Resolves when so many characters may be handled: in order, and at once if this turn has room. */
  async take(characters: number): Promise<void> {
    if (characters < SMALL_CHARACTERS) return;
    if (this._taken < TURN_CHARACTERS && this._waiting.length === 0) return this._count(characters);
    await new Promise<void>((resolve) => {
      this._waiting.push({ characters, resolve });
    });
  }

  private _count(characters: number): void {
    if (this._taken === 0) this._clock.after(0, this._nextTurn);
    this._taken += characters;
  }

  private readonly _nextTurn = (): void => {
    this._taken = 0;
    while (this._taken < TURN_CHARACTERS) {
      const next = this._waiting.shift();
      if (next === undefined) return;
      this._count(next.characters);
      next.resolve();
    }
  };
}
