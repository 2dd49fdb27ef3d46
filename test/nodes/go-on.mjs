// Goes on in a data folder that another Node began: reads its only run, and adds one.
// node go-on.mjs <dist> <data folder>

const [dist, folder] = process.argv.slice(2);
const { openStore } = await import(`${dist}/runtime/stores/sqlite.js`);

const store = await openStore(folder);
const [run] = await store.listRuns();
const events = await store.read(run.id);
await store.createRun({ id: "run-of-other-node", createdAt: 2 });
await store.close();
process.stdout.write(JSON.stringify({ run, events }));
