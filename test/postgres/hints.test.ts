import { expect, it, onTestFinished, vi } from "vitest";
import { assertRunLog } from "#testing";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { describePostgres } from "../support/postgres.ts";
import { chat, createCluster, wake } from "../server/cluster.ts";

/** The clock of the servers stands still, so that nothing is found by looking from time to time. */
describePostgres("hints between nodes", (postgres) => {
  it("an answer and an abort at another node reach the one at work at once", { timeout: 60_000 }, async () => {
    const url = await postgres.createDatabase();
    const [near, far] = await Promise.all([openStore(url), openStore(url)]);
    // After the nodes: what is registered first is called last.
    onTestFinished(async () => void (await Promise.all([near.close(), far.close()])));
    const { node } = createCluster(["work"], near);
    let ran = 0;
    const stopped: unknown[] = [];
    const work = (): Promise<string> => {
      ran += 1;
      return new Promise(() => undefined);
    };
    await wake(node(work, { store: far, log: (record) => stopped.push(record.event) }));
    const front = node(() => "never", { worker: false });
    const { runId } = await chat(front);
    const question = await vi.waitFor(async () => {
      const [asked] = await near.listQuestions("local");
      expect(asked).toBeDefined();
      return asked;
    }, 20_000);
    const path = `/api/runs/${runId}`;
    await front.ask("POST", `${path}/permissions/${question?.callId}`, { allow: true });
    await vi.waitFor(() => expect(ran).toBe(1), 20_000);
    expect(await (await front.ask("POST", `${path}/abort`, {})).json()).toEqual({ accepted: true });
    await vi.waitFor(() => expect(stopped).toContain("run-left"), 20_000);
    assertRunLog(await near.read(runId));
  });
});
