/**
 * The property that every Standard Schema library (zod, valibot, arktype …) puts on its schemas. Declared here as a
 * structural type, so that none of them is a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
      | undefined;
  };
}

export type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Schemas of arktype are functions.
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
