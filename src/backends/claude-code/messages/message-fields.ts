/**
 * The type of a word that is in no list of ours: any text, never one of the listed ones. An enum that exists in the types
 * alone, because nothing else that is a text keeps the compiler from taking a message that nobody knows for a known one
 * when a program compares `type` or `subtype` with a word. To compare it with a word of your own, read it as a `string`.
 */
export declare enum UnlistedWord {
  Any = "*",
}

/** One of these words, or one that a newer CLI has added. */
export type OpenWord<Known extends string> = Known | (string & {});

/**
 * What all messages have. Versions of the CLI differ in their fields: those named here and in the interfaces below may
 * be missing, unless they are said to be there, and others may be present, as `unknown`.
 */
export interface MessageFields {
  readonly [field: string]: unknown;
  readonly uuid?: string;
  readonly session_id?: string;
}

/** A `system` message: `subtype` says about what. */
export interface SystemFields<Subtype extends string> extends MessageFields {
  readonly type: "system";
  readonly subtype: Subtype;
}
