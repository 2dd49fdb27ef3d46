import { expect, test } from "vitest";
import { createMessageIds } from "./message-ids.ts";

test("an id is used once; the next message with it gets a number as suffix", () => {
  const ids = createMessageIds("message");
  expect([ids.claim("a"), ids.claim("b"), ids.claim("a"), ids.claim("a")]).toEqual(["a", "b", "a#2", "a#3"]);
});

test("messages without an id are counted", () => {
  const ids = createMessageIds("user");
  expect([ids.claim(undefined), ids.claim(""), ids.claim(undefined)]).toEqual(["user-1", "user-2", "user-3"]);
});

test("an id that was released can be used again", () => {
  const ids = createMessageIds("message");
  ids.claim("a");
  ids.release("a");
  ids.release("never");
  ids.release(undefined);
  expect(ids.claim("a")).toBe("a");
});

test("the memory of ids is bounded", () => {
  const ids = createMessageIds("message");
  for (let at = 0; at <= 1000; at++) ids.claim(`m${at}`);
  expect([ids.claim("m0"), ids.claim("m1000")]).toEqual(["m0", "m1000#2"]);
});
