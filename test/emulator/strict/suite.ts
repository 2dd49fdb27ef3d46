import { describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { ADD, HEADERS, post, type Seen, type Vendor } from "../support.ts";

// AT-67: what the vendors refuse, the offline server refuses, each in its vendor's words.

export interface Case {
  readonly name: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly says?: RegExp;
  readonly status?: number;
}

export interface Suite {
  readonly vendor: Vendor;
  readonly path: string;
  /** A request that is taken; the cases change parts of it. */
  readonly good: object;
  readonly expectShape: (seen: Seen, status: number) => void;
  readonly accepted: readonly Case[];
  readonly refused: readonly Case[];
}

/** Things that several vendors' cases are made of. */
export const user = { role: "user", content: "What is 25 + 17?" };
export const schema = ADD.schema;

/** Sends every case of a suite. */
export function describeStrict(suite: Suite): void {
  const send = async ({ body, headers }: Case, strict = true): Promise<Seen> => {
    const sent = Object.entries({ ...HEADERS[suite.vendor], ...headers }).filter((entry) => entry[1] !== undefined);
    const emulator = createEmulator({ strict });
    return await post(
      emulator,
      suite.path,
      { ...suite.good, ...body },
      Object.fromEntries(sent) as Record<string, string>,
    );
  };

  describe(`AT-67: strict mode at ${suite.path}`, () => {
    it.each(suite.accepted)("takes $name", async (given) => {
      const seen = await send(given);
      expect({ status: seen.status, text: seen.status === 200 ? "" : seen.text }).toEqual({ status: 200, text: "" });
    });

    it.each(suite.refused)("refuses $name", async (given) => {
      const status = given.status ?? 400;
      const seen = await send(given);
      expect(seen.status).toBe(status);
      suite.expectShape(seen, status);
      if (given.says !== undefined) expect(seen.text.replaceAll("\\", "")).toMatch(given.says);
    });

    it("takes all of that when it is not strict, but for a model that is missing", async () => {
      const taken = suite.refused.filter((given) => given.status !== 404);
      const statuses = await Promise.all(
        taken.map(async (given) => ({ name: given.name, status: (await send(given, false)).status })),
      );
      expect(statuses.filter(({ status }) => status !== 200)).toEqual([]);
    });
  });
}
