import { StartError } from "#domain";

/** A control of a session that cannot be had. `reason` ends with the remedy. */
export function refuseControl(control: string, backend: string, reason: string): StartError {
  return new StartError("feature-unavailable", `${control} cannot be had on ${backend}: ${reason}.`);
}
