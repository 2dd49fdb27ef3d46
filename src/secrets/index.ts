export { HIDDEN } from "./cover-value.ts";
export type { LineMask } from "./line-mask.ts";
export { isSecretHeader, isSecretRequestHeader, isSecretVariable } from "./names.ts";
export { createRedactor, type Redactor } from "./redactor.ts";
export { createSecretMask, type SecretMask } from "./secret-mask.ts";
export {
  secretsOfAddress,
  secretsOfArguments,
  secretsOfData,
  secretsOfHeaders,
  secretsOfVariables,
} from "./sources.ts";
export { MASK } from "./span.ts";
export type { HeldPiece, StreamMask } from "./stream-mask.ts";
export type { TextMask } from "./text-mask.ts";
