import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { ROOT } from "../../scripts/set-up.mjs";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { chat, createCluster, wake } from "../server/cluster.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

async function serveHelp(): Promise<string> {
  const io = createMemoryIo({ cwd: ROOT });
  await main(["serve", "--help"], io);
  return io.stdout();
}

/** Every metric of a node that has worked on a run. */
async function listMetrics(): Promise<readonly string[]> {
  const { node, until } = createCluster();
  const at = node(() => "done");
  await wake(at);
  await until((await chat(at)).text);
  const text = await (await at.ask("GET", "/metrics")).text();
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
}

/** Anything with a field that is not named here is refused. */
const strict = z.strictObject;
const names = z.record(z.string().regex(/^[a-z][\w./-]*$/i), z.string());
const quantity = z.string().regex(/^\d+(m|Mi|Gi)$/);
const probe = strict({
  httpGet: strict({ path: z.enum(["/healthz", "/readyz"]), port: z.literal("http") }),
  periodSeconds: z.int().positive(),
  timeoutSeconds: z.int().positive().optional(),
  failureThreshold: z.int().positive().optional(),
});
const container = strict({
  name: z.string(),
  image: z.string().regex(/^[\w./-]+:[\w.-]+$/),
  args: z.array(z.string()),
  ports: z.array(strict({ name: z.literal("http"), containerPort: z.literal(4000) })),
  envFrom: z.array(strict({ secretRef: strict({ name: z.literal("millrace") }) })),
  env: z.array(strict({ name: z.string(), valueFrom: strict({ fieldRef: strict({ fieldPath: z.string() }) }) })),
  startupProbe: probe,
  readinessProbe: probe,
  livenessProbe: probe,
  lifecycle: strict({ preStop: strict({ exec: strict({ command: z.array(z.string()) }) }) }).optional(),
  resources: strict({
    requests: strict({ cpu: quantity, memory: quantity }),
    limits: strict({ memory: quantity }),
  }),
  securityContext: strict({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: strict({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  volumeMounts: z.array(strict({ name: z.string(), mountPath: z.string() })),
});
const metadata = strict({ name: z.string().regex(/^[a-z][a-z-]{0,62}$/), labels: names.optional() });
const selector = strict({ matchLabels: names });
const deployment = strict({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("Deployment"),
  metadata,
  spec: strict({
    replicas: z.int().min(2),
    selector,
    strategy: strict({
      type: z.literal("RollingUpdate"),
      rollingUpdate: strict({ maxUnavailable: z.int(), maxSurge: z.int().positive() }),
    }),
    template: strict({
      metadata: strict({ labels: names }),
      spec: strict({
        terminationGracePeriodSeconds: z.int(),
        securityContext: strict({ runAsNonRoot: z.literal(true), runAsUser: z.int(), fsGroup: z.int() }),
        containers: z.tuple([container]),
        volumes: z.array(strict({ name: z.string(), emptyDir: strict({}) })),
      }),
    }),
  }),
});
const manifest = z.discriminatedUnion("kind", [
  deployment,
  strict({
    apiVersion: z.literal("v1"),
    kind: z.literal("Secret"),
    metadata,
    type: z.literal("Opaque"),
    stringData: z.record(z.string(), z.string()),
  }),
  strict({
    apiVersion: z.literal("v1"),
    kind: z.literal("Service"),
    metadata,
    spec: strict({
      selector: names,
      ports: z.array(strict({ name: z.string(), port: z.int(), targetPort: z.literal("http") })),
    }),
  }),
  strict({
    apiVersion: z.literal("policy/v1"),
    kind: z.literal("PodDisruptionBudget"),
    metadata,
    spec: strict({ minAvailable: z.int().optional(), maxUnavailable: z.int().optional(), selector }),
  }),
]);
const seconds = z.string().regex(/^\d+s$/);
const composeFile = strict({
  name: z.string(),
  "x-node": z.unknown(),
  services: z.record(
    z.string(),
    strict({
      image: z.string(),
      build: strict({ context: z.string(), dockerfile: z.string() }).optional(),
      command: z.array(z.string()).optional(),
      environment: z.record(z.string().regex(/^[A-Z_]+$/), z.string()),
      depends_on: z.record(z.string(), strict({ condition: z.literal("service_healthy") })).optional(),
      configs: z.array(strict({ source: z.string(), target: z.string() })).optional(),
      volumes: z.array(z.string()).optional(),
      ports: z.array(z.string()).optional(),
      healthcheck: strict({
        test: z.array(z.string()),
        interval: seconds,
        timeout: seconds,
        retries: z.int(),
      }).optional(),
      restart: z.literal("unless-stopped"),
      stop_grace_period: seconds,
      read_only: z.boolean().optional(),
      tmpfs: z.array(z.string()).optional(),
      cap_drop: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
    }),
  ),
  configs: z.record(z.string(), strict({ content: z.string() })),
  volumes: z.record(z.string(), strict({})),
});

/** shutdownMs, the time in which runs are left to others, and something to spare. */
const LEAST_GRACE = 20;

const compose = composeFile.parse(parse(read("deploy/compose.yaml"), { merge: true }));
const manifests = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document) =>
  manifest.parse(document.toJSON()),
);
const deployments = manifests.flatMap((one) => (one.kind === "Deployment" ? [one] : []));
const nodes = Object.entries(compose.services).filter(([, { image }]) => image === "millrace");

describe("the files for deployments", () => {
  it("name only flags and variables that the command line has", async () => {
    const help = await serveHelp();
    const commands = [
      ...nodes.map(([, { command = [] }]) => command),
      ...deployments.map(({ spec }) => spec.template.spec.containers[0].args),
    ];
    const flags = commands.flat().filter((word) => word.startsWith("-"));
    expect(flags.length).toBeGreaterThan(6);
    for (const flag of flags) expect(help).toContain(`${flag} `);

    const secrets = manifests.flatMap((one) => (one.kind === "Secret" ? Object.keys(one.stringData) : []));
    const own = deployments.flatMap(({ spec }) => spec.template.spec.containers[0].env.map(({ name }) => name));
    const variables = [...nodes.flatMap(([, { environment }]) => Object.keys(environment)), ...secrets, ...own];
    const source = [
      "src/cli/commands/serve.ts",
      "src/dialects/anthropic/profile.ts",
      "src/dialects/openai-chat/profile.ts",
    ]
      .map(read)
      .join("\n");
    const known = new Set([...source.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name));
    expect(variables.length).toBeGreaterThan(8);
    for (const name of variables) expect(known, name).toContain(name);
  });

  it("leave runs to other nodes before a node is killed, and let a worker listen for probes only with a token", () => {
    for (const { spec } of deployments) {
      const { terminationGracePeriodSeconds, containers } = spec.template.spec;
      const [, waits = "0"] = containers[0].lifecycle?.preStop.exec.command ?? [];
      expect(terminationGracePeriodSeconds - Number(waits)).toBeGreaterThan(LEAST_GRACE);
    }
    for (const [, { stop_grace_period, environment }] of nodes) {
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(LEAST_GRACE);
      expect(environment).toHaveProperty("MILLRACE_METRICS_TOKEN");
    }
    const [secret] = manifests.flatMap((one) => (one.kind === "Secret" ? [one] : []));
    expect(Object.keys(secret?.stringData ?? {})).toEqual(
      expect.arrayContaining(["MILLRACE_TOKEN", "MILLRACE_METRICS_TOKEN"]),
    );
  });

  it("have labels and ports that fit each other", () => {
    const labels = deployments.map(({ spec }) => spec.template.metadata.labels);
    for (const [at, { spec }] of deployments.entries()) expect(spec.selector.matchLabels).toEqual(labels[at]);
    const selected = manifests.flatMap((one) => {
      if (one.kind === "Service") return [one.spec.selector];
      return one.kind === "PodDisruptionBudget" ? [one.spec.selector.matchLabels] : [];
    });
    expect(selected).toHaveLength(3);
    for (const wanted of selected) expect(labels).toContainEqual(wanted);
    expect(nodes.map(([name]) => name)).toEqual(["web", "worker"]);
  });

  it("build an image with the packages of Postgres and the queues, in versions that the package takes", () => {
    const { peerDependencies, devDependencies } = JSON.parse(read("package.json"));
    for (const name of ["pg", "pg-boss", "bullmq", "ioredis"]) {
      expect(peerDependencies).toHaveProperty(name);
      const [, version] = new RegExp(` dependencies\\.${name}=(\\S+)`).exec(read("Containerfile")) ?? [];
      expect(version, name).toBe(devDependencies[name]);
      expect(read("Containerfile")).toContain(` devDependencies.${name} `);
    }
  });
});

describe("the metrics", () => {
  it("of the dashboard are those of a node, and all of a node are in the table of docs/deployment.md", async () => {
    const there = await listMetrics();
    expect(there).toContain("millrace_hand_overs_total");
    const { panels, templating } = JSON.parse(read("deploy/grafana-dashboard.json"));
    const queries: string[] = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: { expr: string }) => expr));
    queries.push(...templating.list.flatMap(({ query }: { query: unknown }) => JSON.stringify(query)));
    const used = queries.flatMap((query) => query.match(/\b(?:millrace|process)_\w+/g) ?? []);
    expect(new Set(used).size).toBeGreaterThan(14);
    for (const name of used) expect(there).toContain(name.replace(/_(?:bucket|sum|count)$/, ""));
    const table = [...read("docs/deployment.md").matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
    // Its rows come with the first tenant that stores something, and with a limit of bytes.
    expect(table.filter((name) => name.includes("_")).sort()).toEqual(
      [...new Set([...there, "millrace_stored_bytes"])].sort(),
    );
  });

  it("the panels of the dashboard have ids of their own, and do not overlap", () => {
    const { panels } = JSON.parse(read("deploy/grafana-dashboard.json"));
    expect(new Set(panels.map(({ id }: { id: number }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken).not.toContain(`${x},${y}`);
          taken.add(`${x},${y}`);
        }
        expect(x).toBeLessThan(24);
      }
    }
  });
});
