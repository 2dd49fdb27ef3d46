import type { ApiRequest } from "./request.ts";

export type Vendor = "anthropic" | "openai" | "google";

/** The operation that a request asks for. */
export type Route =
  | { readonly kind: "generate"; readonly protocol: "anthropic" | "openai-chat" | "openai-responses" | "gemini" }
  | { readonly kind: "count"; readonly protocol: "anthropic" | "gemini" }
  /** `id: undefined` requests the list. */
  | { readonly kind: "models"; readonly vendor: Vendor; readonly id: string | undefined }
  | { readonly kind: "health" }
  | { readonly kind: "wrong-method"; readonly vendor: Vendor; readonly allowed: string }
  | { readonly kind: "unknown"; readonly vendor: Vendor };

/** The ends of paths. Base URLs differ between hosts, so they are ignored. */
const POSTS: readonly { readonly ending: RegExp; readonly route: Route; readonly vendor: Vendor }[] = [
  { ending: /\/messages$/, route: { kind: "generate", protocol: "anthropic" }, vendor: "anthropic" },
  { ending: /\/messages\/count_tokens$/, route: { kind: "count", protocol: "anthropic" }, vendor: "anthropic" },
  { ending: /\/chat\/completions$/, route: { kind: "generate", protocol: "openai-chat" }, vendor: "openai" },
  { ending: /\/responses$/, route: { kind: "generate", protocol: "openai-responses" }, vendor: "openai" },
  { ending: /\/models\/[^/]+:generateContent$/, route: { kind: "generate", protocol: "gemini" }, vendor: "google" },
  {
    ending: /\/models\/[^/]+:streamGenerateContent$/,
    route: { kind: "generate", protocol: "gemini" },
    vendor: "google",
  },
  { ending: /\/models\/[^/]+:countTokens$/, route: { kind: "count", protocol: "gemini" }, vendor: "google" },
];

/** Determines the operation of a request. */
export function routeOf(request: ApiRequest): Route {
  const { path, method } = request;
  for (const { ending, route, vendor } of POSTS) {
    if (ending.test(path)) return method === "POST" ? route : { kind: "wrong-method", vendor, allowed: "POST" };
  }
  const vendor = vendorOf(request);
  const models = /\/models(?:\/([^:]+))?$/.exec(path);
  if (models !== null) {
    return method === "GET"
      ? { kind: "models", vendor, id: models[1] }
      : { kind: "wrong-method", vendor, allowed: "GET" };
  }
  const isHealth = (path === "/" || path === "/healthz") && (method === "GET" || method === "HEAD");
  return isHealth ? { kind: "health" } : { kind: "unknown", vendor };
}

function vendorOf({ headers, path, query }: ApiRequest): Vendor {
  if (headers["anthropic-version"] !== undefined || headers["x-api-key"] !== undefined) return "anthropic";
  if (headers["x-goog-api-key"] !== undefined || query.has("key") || /\/v1(beta|alpha)\//.test(path)) return "google";
  return "openai";
}
