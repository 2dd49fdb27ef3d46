import { InvalidArgumentError } from "commander";

/** A flag's whole number above 0. */
export function parseCount(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("Give a whole number above 0.");
}
