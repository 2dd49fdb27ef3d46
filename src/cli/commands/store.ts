import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { describeThrown, StartError } from "#domain";
import { type CopiedStore, copyStore, isStoreError, openPostgresStore, openStore, type Store } from "#runtime";
import { plainText } from "#sinks";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { createProgressBar } from "../progress-bar.ts";
import { say } from "../say.ts";
import { usageError } from "../usage-error.ts";

const EXAMPLES = `
Examples:
  millrace store copy ~/.local/share/millrace postgres://millrace@db.example/millrace
  millrace store copy postgres://millrace@db.example/millrace ./copy

Stop the servers of both stores first. The copy may be interrupted and repeated: it goes on where it was. At the end everything is
read from both stores and compared; exit code 1 says that something differs. A password need not be in the URL: PGPASSWORD is used.`;

export function addStoreCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const store = program.command("store").description("copy what the server keeps to another store");
  store
    .command("copy")
    .description("copy all threads, runs and files to another store, and check them")
    .argument("<from>", "the data folder, or the postgres:// URL, to copy")
    .argument("<to>", "the data folder, created if missing, or the postgres:// URL of a database")
    .option("--stopped", "every server of <from> is stopped: also copy runs that are neither over nor waiting")
    .addHelpText("after", EXAMPLES)
    .action(async (from: string, to: string, flags: { readonly stopped?: boolean }) => {
      outcome.code = await copy(from, to, flags.stopped === true, io);
    });
}

/** Where a store is. */
type Place = { readonly url: string } | { readonly folder: string };

async function copy(fromText: string, toText: string, saysStopped: boolean, io: CommandIo): Promise<number> {
  const [from, to] = [await readPlace(fromText, "from", io), await readPlace(toText, "to", io)];
  if (JSON.stringify(from) === JSON.stringify(to)) {
    throw usageError("<from> and <to> are the same store. Name two different ones.");
  }
  await requireDatabase(from, io);
  const source = await open(from, "from");
  try {
    const target = await open(to, "to");
    try {
      // A folder can be opened only if no other program has it open.
      return await copyOpened(source, target, saysStopped || "folder" in from, io);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyOpened(source: Store, target: Store, isStopped: boolean, io: CommandIo): Promise<number> {
  const interrupted = new AbortController();
  const release = io.onInterrupt(() => interrupted.abort());
  const bar = createProgressBar(io);
  try {
    const { clock } = io.world;
    const { signal } = interrupted;
    const copied = await copyStore(source, target, {
      clock,
      signal,
      isStopped,
      onProgress({ phase, done, total }) {
        const percent = total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total));
        bar.show(done, total, { before: `${phase} `, after: `${percent} %` });
      },
    });
    bar.clear();
    return report(copied, io);
  } catch (error) {
    bar.clear();
    if (interrupted.signal.aborted) {
      say("millrace: Interrupted, so the copy is not complete. The same command goes on where it was.", io);
      return EXIT.aborted;
    }
    if (!isStoreError(error)) throw error;
    const why = plainText(error.message);
    say(`millrace: The copy is not complete: ${why} The same command goes on where it was.`, io);
    return EXIT.failed;
  } finally {
    release();
  }
}

/** How many differences are listed. */
const SHOWN_FAULTS = 20;

function report({ threads, runs, files, events, faults }: CopiedStore, io: CommandIo): number {
  if (faults.length > 0) {
    const more = faults.length - SHOWN_FAULTS;
    const lines = [...faults.slice(0, SHOWN_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])];
    say(`millrace: The target is not as the source:\n${lines.map((line) => `  ${plainText(line)}`).join("\n")}`, io);
    say("Make sure that no server works on either of them, and run the same command again.", io);
    return EXIT.failed;
  }
  for (const [what, { all, copied }] of Object.entries({ threads, runs, files })) {
    io.out.write(`${what.padEnd(8)}${all}${copied < all ? ` (${all - copied} were there already)` : ""}\n`);
  }
  io.out.write(`Copied ${events} events; both stores were compared, and everything is there.\n`);
  return EXIT.success;
}

async function readPlace(text: string, which: "from" | "to", io: CommandIo): Promise<Place> {
  if (/^postgres(ql)?:\/\//i.test(text)) return { url: text };
  // Not repeated as a whole: a URL may have a password.
  const [scheme] = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(text) ?? [];
  if (scheme !== undefined || text.trim() === "") {
    throw usageError(
      `<${which}> must be a folder or a URL like postgres://user@host/database${scheme === undefined ? "" : `, not ${plainText(scheme)}//…`}.`,
    );
  }
  const folder = resolve(io.cwd, text);
  return { folder: await realpath(folder).catch(() => folder) };
}

/** Opening a folder would create a database in it. */
async function requireDatabase(place: Place, io: CommandIo): Promise<void> {
  if ("url" in place || (await io.world.files.exists(`${place.folder}/millrace.sqlite`))) return;
  throw usageError(
    `There is no millrace.sqlite in ${plainText(place.folder)}. Name the folder that millrace serve was given with --data; without --data it is ~/.local/share/millrace.`,
  );
}

async function open(place: Place, which: "from" | "to"): Promise<Store> {
  try {
    return "url" in place ? await openPostgresStore(place.url) : await openStore(place.folder);
  } catch (error) {
    throw new StartError("invalid-config", `<${which}>: ${describeThrown(error)}`, { cause: error });
  }
}
