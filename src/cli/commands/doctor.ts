import { resolve } from "node:path";
import { type Command, Option } from "commander";
import {
  type Agent,
  type BackendState,
  type Finding,
  inspectAgents,
  inspectBackends,
  inspectConfig,
  inspectFolder,
  inspectStopping,
  inspectStore,
  inspectQueue,
  inspectSharedStore,
  loadConfig,
  readVersion,
} from "#runtime";
import { secretsOfAddress, secretsOfData } from "#secrets";
import { adviceFor, describeThrown } from "#domain";
import { plainText, wantsColor } from "#sinks";
import { requireText } from "../flags/values.ts";
import { canErase, type CommandIo, EXIT, type Outcome } from "../io.ts";
import { describeRefusedOwn, describeUnused } from "../read-config.ts";
import { requireBackendName } from "../require-backend.ts";
import { foldText } from "../say.ts";

interface DoctorFlags {
  readonly backend?: string;
  readonly claudeExecutable?: string;
  readonly store?: string;
  readonly queue?: string;
  readonly data?: string;
  readonly json?: boolean;
}

const OLDEST_NODE = [20, 19] as const;

const EXAMPLES = `
Examples:
  millrace doctor                      what is here, what is missing, what to do about it
  millrace doctor -b claude-code       exit code 3 when this backend cannot be used
  millrace doctor --store postgres://… --queue pg-boss
  millrace doctor --json | jq .

Keys are never shown, only whether they are set.`;

export function addDoctorCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("doctor")
    .description("look at what is here, and what is missing")
    .option("-b, --backend <backend>", "the backend you want to use; exit code 3 when it is not ready", requireText)
    .option("--claude-executable <path>", "the Claude Code CLI to look at", requireText)
    .addOption(
      new Option("--store <url>", "the Postgres of a server; exit code 3 when it cannot be used").conflicts("data"),
    )
    .option("--queue <where>", "the queue of its nodes: pg-boss, or redis://…")
    .option("--data <folder>", "the data folder of a server")
    .option("--json", "as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DoctorFlags) => {
      outcome.code = await doctor(flags, io);
    });
}

async function doctor(flags: DoctorFlags, io: CommandIo): Promise<number> {
  const asked = flags.backend === undefined ? undefined : requireBackendName(flags.backend);
  const isShown = canErase(io) && flags.json !== true;
  if (isShown) io.err.write("checking …\r");
  const options = { executable: flags.claudeExecutable, cwd: io.cwd, checksOutput: true };
  const backends = await inspectBackends(options, io.world);
  const config = await lookAtConfig(io);
  const machine = [...(await inspectMachine()), config.finding];
  const agents = await inspectAgents(config.agents, io.world);
  const shared = await inspectShared(flags, io);
  if (isShown) io.err.write("\u001b[K");
  const isReady =
    machine.every((finding) => finding.isReady || finding.name !== "node") &&
    shared.every((finding) => finding.isReady) &&
    (asked === undefined || backends.find(({ name }) => name === asked)?.isReady === true) &&
    (flags.claudeExecutable === undefined || backends.find(({ name }) => name === "claude-code")?.isReady === true);
  if (flags.json === true) {
    io.out.write(
      `${JSON.stringify({ millrace: readVersion(), isReady, machine, shared, backends, agents }, undefined, 2)}\n`,
    );
  } else {
    const color = wantsColor(io.out.isTerminal, io.world.env);
    const shown = backends.filter(({ name }) => asked === undefined || name === asked);
    const text = foldText(render([...machine, ...shared], shown, asked === undefined ? agents : []), io.out);
    io.out.write(color ? text.replaceAll(/^[✓✗!]/gm, (mark) => COLOURED[mark] ?? mark) : text);
  }
  return isReady ? EXIT.success : EXIT.setup;
}

/** What servers share, or keep for themselves; the variables are those of `millrace serve`. */
async function inspectShared({ store, queue, data }: DoctorFlags, io: CommandIo): Promise<readonly Finding[]> {
  const { env, clock } = io.world;
  const storeUrl = store ?? (data === undefined ? env["MILLRACE_STORE"] || undefined : undefined);
  const where = queue ?? (env["MILLRACE_QUEUE"] || undefined);
  io.hide?.([storeUrl, where].flatMap((url) => secretsOfAddress(url ?? "")));
  const version = readVersion();
  const found = await Promise.all([
    storeUrl === undefined ? [] : inspectSharedStore(storeUrl, { clock, version, hasQueue: where !== undefined }),
    where === undefined ? [] : inspectQueue(where, storeUrl, clock),
    data === undefined ? [] : inspectFolder(resolve(io.cwd, data)),
  ]);
  return found.flat();
}

async function inspectMachine(): Promise<readonly Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const says = isNew
    ? `Node ${process.versions.node}`
    : `Node ${process.versions.node} is too old. Install ${OLDEST_NODE.join(".")} or newer.`;
  const stopping = inspectStopping();
  return [
    { name: "node", isReady: isNew, says },
    { name: "store sqlite", ...(await inspectStore()) },
    { name: "stopping", isReady: true, says: [stopping.says, ...stopping.limits].join(" ") },
  ];
}

/** Which configuration a run in this folder would use, and its agents. */
async function lookAtConfig(io: CommandIo): Promise<{ readonly finding: Finding; readonly agents: readonly Agent[] }> {
  const finding = await describeConfig(io);
  // What is not used is not loaded: a configuration may be a program.
  if (!finding.isReady) return { finding, agents: [] };
  try {
    const { config } = await loadConfig({ cwd: io.cwd, env: io.world.env, files: io.world.files });
    io.hide?.(secretsOfData(config));
    return { finding, agents: config.agents ?? [] };
  } catch (error) {
    return { finding: { ...finding, isReady: false, says: describeThrown(error) }, agents: [] };
  }
}

async function describeConfig(io: CommandIo): Promise<Finding> {
  const name = "configuration";
  try {
    const { ownFile, refusedOwn, project } = await inspectConfig({
      cwd: io.cwd,
      env: io.world.env,
      files: io.world.files,
    });
    if (refusedOwn !== undefined) {
      return { name, isReady: false, says: describeRefusedOwn(refusedOwn).replace(/^millrace: /, "") };
    }
    const own =
      ownFile === undefined ? "You have no configuration of your own." : `Your own configuration is ${ownFile}.`;
    if (project === undefined) return { name, isReady: true, says: `${own} This project has none.` };
    if (project.state === "trusted") {
      return { name, isReady: true, says: `${own} This project's is ${project.file}; you have trusted it.` };
    }
    return { name, isReady: false, says: `${own} ${describeUnused(project).replace(/^millrace: /, "")}` };
  } catch (error) {
    return { name, isReady: false, says: describeThrown(error) };
  }
}

const COLOURED: Readonly<Record<string, string>> = {
  "✓": "\u001b[32m✓\u001b[39m",
  "✗": "\u001b[31m✗\u001b[39m",
  "!": "\u001b[33m!\u001b[39m",
};

function render(
  machine: readonly Finding[],
  backends: readonly BackendState[],
  agents: readonly BackendState[],
): string {
  const mark = (isReady: boolean): string => (isReady ? "✓" : "✗");
  const lines = [`millrace ${readVersion()}`];
  for (const { isReady, isWarning, says } of machine) {
    lines.push(`${isWarning === true ? "!" : mark(isReady)} ${plainText(says)}`);
  }
  const list = (title: string, states: readonly BackendState[]): void => {
    lines.push("", title);
    for (const { name, isReady, found, missing, can } of states) {
      lines.push(`${mark(isReady)} ${name}`);
      // Paths, addresses and output of programs are untrusted text.
      for (const text of [...found, ...missing]) lines.push(`    ${plainText(adviceFor("shell", text))}`);
      if (can.length > 0) lines.push(`    can: ${can.join(", ")}`);
    }
  };
  list("Backends", backends);
  if (agents.length > 0) list("Agents of the configuration", agents);
  return `${lines.join("\n")}\n`;
}
