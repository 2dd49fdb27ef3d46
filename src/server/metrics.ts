/** Counts what a server does, and renders it in Prometheus' text format. */
export interface Metrics {
  readonly requests: Counter;
  readonly runs: Counter;
  readonly events: Counter;
  readonly failures: Counter;
  /** Adds a value that is read when the metrics are rendered. */
  gauge(name: string, help: string, read: () => number): void;
  /** Adds a value that only grows, and is read when the metrics are rendered. Its name ends with `_total`. */
  total(name: string, help: string, read: () => number): void;
  /** Adds a value that is always 1, with labels that describe this server. */
  info(name: string, help: string, labels: Readonly<Record<string, string>>): void;
  /** Adds the distribution of durations, and returns the function that notes one, in milliseconds. */
  durations(name: string, help: string): (ms: number) => void;
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
  const read = (type: "gauge" | "counter") => (name: string, help: string, value: () => number) => {
    gauges.push(() => [...headOf(name, help, type), `${name} ${value()}`]);
  };
  return {
    requests,
    runs,
    events,
    failures,
    gauge: read("gauge"),
    total: read("counter"),
    info(name, help, labels) {
      const shown = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      gauges.push(() => [...headOf(name, help, "gauge"), `${name}{${shown.join(",")}} 1`]);
    },
    durations(name, help) {
      const { note, lines } = createDurations(name, help);
      gauges.push(lines);
      return note;
    },
    render(storedBytes = new Map()) {
      const counters = [requests, runs, events, failures].flatMap((counter) => counter.lines());
      if (storedBytes.size > 0) counters.push(...showStored(storedBytes));
      return `${[...counters, ...gauges.flatMap((gauge) => gauge())].join("\n")}\n`;
    },
  };
}

function headOf(name: string, help: string, type: "gauge" | "counter" | "histogram"): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** The bounds of the buckets, in seconds. */
const BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

function createDurations(name: string, help: string): { note(ms: number): void; lines(): readonly string[] } {
  const counts = BOUNDS.map(() => 0);
  let sum = 0;
  let count = 0;
  return {
    note(ms) {
      const seconds = Math.max(0, ms) / 1000;
      sum += seconds;
      count += 1;
      for (const [at, bound] of BOUNDS.entries()) if (seconds <= bound) counts[at] = (counts[at] ?? 0) + 1;
    },
    lines: () => [
      ...headOf(name, help, "histogram"),
      ...BOUNDS.map((bound, at) => `${name}_bucket{le="${bound}"} ${counts[at]}`),
      `${name}_bucket{le="+Inf"} ${count}`,
      `${name}_sum ${sum}`,
      `${name}_count ${count}`,
    ],
  };
}

/** The operator names the tenants, so their names need no escaping: letters, digits, `-` and `_`. */
function showStored(storedBytes: ReadonlyMap<string, number>): readonly string[] {
  const name = "millrace_stored_bytes";
  return [
    ...headOf(name, "Bytes of messages and events by tenant.", "gauge"),
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
      ...headOf(name, help, "counter"),
      ...[...counts].map(([label, count]) => `${name}{${labelName}="${label}"} ${count}`),
    ],
  };
}
