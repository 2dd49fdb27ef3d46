import { BACKEND_NAMES, suggestBackend } from "#runtime";
import { usageError } from "./usage-error.ts";

/** The name at the start of a backend string. @throws StartError with the nearest name if there is no such backend. */
export function requireBackendName(text: string, flag = "--backend"): string {
  const [name = ""] = text.split("/", 1);
  if (BACKEND_NAMES.includes(name)) return name;
  const guess = suggestBackend(text, BACKEND_NAMES);
  throw usageError(
    `${flag}: there is no backend "${name.slice(0, 80)}".${guess === "" ? "" : ` ${guess}`} Known: ${BACKEND_NAMES.join(", ")}.`,
  );
}

/** Hosts whose models have a slash in their names. */
const HOSTS_OF_MANY = ["openrouter", "vllm", "modal"];

/** Whether `a/b` means a backend and its model, and not one model of the host. */
export function isFullName(model: string, backend: string): boolean {
  const [first = ""] = model.split("/", 1);
  if (first === model || HOSTS_OF_MANY.includes(backend.split("/", 1)[0] ?? "")) return false;
  return BACKEND_NAMES.includes(first) || !first.includes(":");
}
