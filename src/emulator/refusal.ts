/** Why a request is refused. Each vendor has its own status and name for it. */
export type RefusalKind =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "wrong-method"
  | "too-large"
  | "rate-limited"
  | "overloaded"
  | "failed";

/** A request that the server refuses. Thrown where the problem is found, encoded for the vendor when it is sent. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly kind: RefusalKind;
  /** The invalid field, if the vendor names one. */
  readonly param: string | undefined;
  /** The vendor's own code, if it has one. */
  readonly code: string | undefined;

  constructor(kind: RefusalKind, message: string, more: { readonly param?: string; readonly code?: string } = {}) {
    super(message);
    this.kind = kind;
    this.param = more.param;
    this.code = more.code;
  }
}
