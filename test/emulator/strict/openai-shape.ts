import { expect } from "vitest";
import type { Seen } from "../support.ts";

/** OpenAI's error shape. */
export const expectOpenaiShape = ({ json }: Seen, status: number): void => {
  expect(json).toEqual({
    error: {
      message: expect.any(String),
      type: "invalid_request_error",
      param: status === 401 ? null : expect.toSatisfy((value) => value === null || typeof value === "string"),
      code: status === 401 ? "invalid_api_key" : status === 404 ? "model_not_found" : null,
    },
  });
};
