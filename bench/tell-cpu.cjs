// Loaded before a program under test: reports its CPU time and peak memory over the fourth pipe when it ends.
const { writeSync } = require("node:fs");

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const rssMb = process.memoryUsage.rss() / 1_048_576;
  writeSync(3, JSON.stringify({ cpuMs: (user + system) / 1000, rssMb }));
});
