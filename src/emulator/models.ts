import { unreachable } from "#domain";
import { Refusal } from "./refusal.ts";
import type { Vendor } from "./routes.ts";

/** The models listed by default. Requests for any other name are answered as well. */
export const DEFAULT_MODELS: readonly string[] = ["offline"];

const CREATED = 1_767_225_600;

/** The models in a vendor's format: one of them, or all. */
export function encodeModels(vendor: Vendor, models: readonly string[], id: string | undefined): unknown {
  if (id !== undefined) {
    refuseMissing(id);
    return encodeModel(vendor, id);
  }
  const list = models.map((name) => encodeModel(vendor, name));
  switch (vendor) {
    case "anthropic":
      return { data: list, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
    case "openai":
      return { object: "list", data: list };
    case "google":
      return { models: list };
    default:
      return unreachable(vendor);
  }
}

/** Every model exists here, except names that start with "missing": so that this error can be tested, too. */
export function refuseMissing(model: string): void {
  if (!model.startsWith("missing")) return;
  throw new Refusal("not-found", `There is no model "${model}".`, { param: "model", code: "model_not_found" });
}

function encodeModel(vendor: Vendor, id: string): object {
  switch (vendor) {
    case "anthropic":
      return { type: "model", id, display_name: id, created_at: new Date(CREATED * 1000).toISOString() };
    case "openai":
      return { id, object: "model", created: CREATED, owned_by: "millrace" };
    case "google":
      return {
        name: `models/${id}`,
        baseModelId: id,
        version: "001",
        displayName: id,
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
        supportedGenerationMethods: ["generateContent", "countTokens"],
      };
    default:
      return unreachable(vendor);
  }
}
