/**
 * The type of a word that is not listed: any string, but never one of the listed ones. An enum that exists only in the
 * types, because no other string type keeps the compiler from narrowing an unknown message to a known one when a
 * program compares `type` or `subtype` with a word. To compare it with an unlisted word, read it as a `string`.
 */
export declare enum UnlistedWord {
  Any = "*",
}

/** One of these words, or one that a newer CLI has added. */
export type OpenWord<Known extends string> = Known | (string & {});

/**
 * The common fields of all messages. Versions of the CLI differ: fields declared here and in the interfaces below may
 * be missing unless stated otherwise, and others may be present, as `unknown`.
 */
export interface MessageFields {
  readonly [field: string]: unknown;
  readonly uuid?: string;
  readonly session_id?: string;
}

/** A `system` message: `subtype` names its subject. */
export interface SystemFields<Subtype extends string> extends MessageFields {
  readonly type: "system";
  readonly subtype: Subtype;
}
