import { agent, openSession, type Run, run, type Session, swarm, tool } from "millrace";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

// Types only: nothing here is run, so no backend is asked.
const typesOnly = (_: () => unknown): void => undefined;

describe("S2-5: the type of an answer follows its schema", () => {
  it("short notation, Standard Schema and no schema", () => {
    typesOnly(() => {
      expectTypeOf(run("offline", "hi")).toEqualTypeOf<Run<string>>();
      const short = run("offline", "hi", { output: { answer: "number", why: "string?", place: { x: "integer[]" } } });
      expectTypeOf(short.output()).resolves.toEqualTypeOf<{ answer: number; why?: string; place: { x: number[] } }>();
      const zod = run("offline", "hi", { output: z.object({ tags: z.array(z.string()) }) });
      expectTypeOf(zod.output()).resolves.toEqualTypeOf<{ tags: string[] }>();
    });
  });

  it("an agent's own schema types its runs", () => {
    typesOnly(() => {
      const judge = agent({ name: "judge", backend: "offline", output: { score: "number" } });
      expectTypeOf(run(judge, "hi").output()).resolves.toEqualTypeOf<{ score: number }>();
      const clerk = agent({ name: "clerk", backend: "offline" });
      expectTypeOf(run(clerk, "hi").output()).resolves.toEqualTypeOf<string>();
      expectTypeOf(run(swarm([judge, clerk]), "hi")).toEqualTypeOf<Run<string>>();
    });
  });

  it("sessions too", () => {
    typesOnly(() => {
      expectTypeOf(openSession("offline")).toEqualTypeOf<Session<string>>();
      const session = openSession("offline", { output: { answer: "number" } });
      expectTypeOf(session.send("hi").output()).resolves.toEqualTypeOf<{ answer: number }>();
      const judge = agent({ name: "judge", backend: "offline", output: { score: "number" } });
      expectTypeOf(openSession(judge).send("hi").output()).resolves.toEqualTypeOf<{ score: number }>();
    });
  });

  it("hooks receive what happens at their point", () => {
    typesOnly(() =>
      run("offline", "hi", {
        tools: [tool("add", "Add", { a: "number" }, ({ a }) => a)],
        hooks: {
          "before-tool": [
            ({ name, input }) => {
              expectTypeOf(name).toEqualTypeOf<string>();
              expectTypeOf(input).toEqualTypeOf<unknown>();
            },
          ],
          "before-handoff": [({ to }) => (to === "billing" ? { block: "closed" } : undefined)],
        },
        permission: ({ name }) => (name === "add" ? { allow: true } : "ask"),
      }),
    );
  });
});
