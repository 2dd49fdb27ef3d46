import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { agent } from "./agent.ts";
import { openSession } from "./open-session.ts";
import { run } from "./run.ts";
import { swarm } from "./swarm.ts";

describe("F-D10: how a handle is printed", () => {
  it("a run is one line: its id, its target, its state", async () => {
    const answer = run("offline", "Hello");
    expect(inspect(answer)).toBe(`Run { id: "${answer.id}", target: "offline", state: "running" }`);
    await answer.result();
    expect(inspect(answer)).toBe(`Run { id: "${answer.id}", target: "offline", state: "success" }`);
    const aborted = run(agent({ name: "a", backend: "offline", instructions: "A." }), "Hello");
    await aborted.abort();
    expect(inspect({ aborted })).toContain('target: "agent a", state: "aborted" }');
  });

  it("a session is one line, and so are its runs", async () => {
    const pair = swarm([agent({ name: "a", backend: "offline", instructions: "A." })]);
    const session = openSession(pair);
    expect(inspect(session)).toBe(`Session { id: "${session.id}", target: "swarm of a", state: "idle" }`);
    const answer = session.send("Hello");
    expect(inspect(session)).toContain('state: "running"');
    expect(inspect(answer)).toContain('target: "swarm of a"');
    await answer.result();
    await session.close();
    expect(inspect(session)).toContain('state: "closed"');
  });

  it("as JSON both are one small object of the same fields, alone and within others", async () => {
    const answer = run("offline", "Hello");
    expect(JSON.stringify(answer)).toBe(`{"id":"${answer.id}","target":"offline","state":"running"}`);
    await answer.result();
    expect(JSON.parse(JSON.stringify({ answer }))).toEqual({
      answer: { id: answer.id, target: "offline", state: "success" },
    });
    const session = openSession("offline");
    expect(JSON.stringify([session])).toBe(`[{"id":"${session.id}","target":"offline","state":"idle"}]`);
    const sent = session.send("Hello");
    expect(JSON.parse(JSON.stringify(session))).toMatchObject({ state: "running" });
    expect(JSON.parse(JSON.stringify(sent))).toMatchObject({ id: sent.id, target: "offline", state: "running" });
    await sent.result();
    await session.close();
    expect(session.toJSON()).toEqual({ id: session.id, target: "offline", state: "closed" });
  });
});
