import { nearestName } from "#domain";
import { BACKEND_NAMES } from "#runtime";
import { usageError } from "./usage-error.ts";

/** The name a backend string begins with. @throws StartError with the nearest name when there is no such backend. */
export function requireBackendName(text: string): string {
  const [name = ""] = text.split("/", 1);
  if (BACKEND_NAMES.includes(name)) return name;
  const near = nearestName(name, BACKEND_NAMES);
  const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
  throw usageError(
    `--backend: there is no backend "${name.slice(0, 80)}".${guess} Known are: ${BACKEND_NAMES.join(", ")}.`,
  );
}
