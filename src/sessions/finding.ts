/** What was found out about a store or a queue. */
export interface Finding {
  readonly name: string;
  /** Without it, a server does not start. */
  readonly isReady: boolean;
  /** In sentences; if something is wrong, with the remedy. */
  readonly says: string;
  /** It works, but not as it should. */
  readonly isWarning?: true;
}
