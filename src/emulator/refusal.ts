/** Why a request is not answered, in our words. Each vendor has its own status and name for it. */
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

/** A request the server does not answer. Thrown where it is noticed, encoded in the vendor's shape at the edge. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly kind: RefusalKind;
  /** The field at fault, where the vendor names one. */
  readonly param: string | undefined;
  /** The vendor's own code, where it has one. */
  readonly code: string | undefined;

  constructor(kind: RefusalKind, message: string, more: { readonly param?: string; readonly code?: string } = {}) {
    super(message);
    this.kind = kind;
    this.param = more.param;
    this.code = more.code;
  }
}
