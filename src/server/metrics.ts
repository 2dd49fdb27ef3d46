/** Counts what a server does, and renders it in Prometheus' text format. */
export interface Metrics {
  readonly requests: Counter;
  readonly runs: Counter;
  readonly events: Counter;
  readonly failures: Counter;
  /** Adds a value that is read when the metrics are rendered. */
  gauge(name: string, help: string, read: () => number): void;
  /** `storedBytes`: the bytes stored by each tenant. */
  render(storedBytes?: ReadonlyMap<string, number>): string;
}

export interface Counter {
  /** Adds to the count of this label. Labels come from closed lists, so there are few. */
  add(label: string, count?: number): void;
}

interface Family extends Counter {
  lines(): readonly string[];
}

export function createMetrics(): Metrics {
  const requests = createCounter("millrace_http_requests_total", "Answered requests by status.", "status");
  const runs = createCounter("millrace_runs_total", "Finished runs by status.", "status");
  const events = createCounter("millrace_events_total", "Stored events by family.", "family");
  const failures = createCounter("millrace_failures_total", "What went wrong, by kind.", "kind");
  const gauges: (() => readonly string[])[] = [];
  return {
    requests,
    runs,
    events,
    failures,
    gauge(name, help, read) {
      gauges.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`]);
    },
    render(storedBytes = new Map()) {
      const counters = [requests, runs, events, failures].flatMap((counter) => counter.lines());
      if (storedBytes.size > 0) counters.push(...showStored(storedBytes));
      return `${[...counters, ...gauges.flatMap((gauge) => gauge())].join("\n")}\n`;
    },
  };
}

/** The operator names the tenants, so their names need no escaping: letters, digits, `-` and `_`. */
function showStored(storedBytes: ReadonlyMap<string, number>): readonly string[] {
  const name = "millrace_stored_bytes";
  return [
    `# HELP ${name} Bytes of messages and events by tenant.`,
    `# TYPE ${name} gauge`,
    ...[...storedBytes].map(([tenant, bytes]) => `${name}{tenant="${tenant}"} ${bytes}`),
  ];
}

function createCounter(name: string, help: string, labelName: string): Family {
  const counts = new Map<string, number>();
  return {
    add(label, count = 1) {
      counts.set(label, (counts.get(label) ?? 0) + count);
    },
    lines: () => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} counter`,
      ...[...counts].map(([label, count]) => `${name}{${labelName}="${label}"} ${count}`),
    ],
  };
}
