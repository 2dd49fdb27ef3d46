// One sample of `explain`: CPU per call, after warming up.
import { cpuSince, finish } from "./measure.mjs";

const CALLS = 5000;
const job = JSON.parse(process.argv[2]);
const { explainRoute } = await import(`./contenders/${job.contender}.mjs`);

function callMany() {
  for (let call = 0; call < CALLS; call += 1) {
    if (explainRoute().mode !== "control") throw new Error("The route is not the one it should be.");
  }
}

callMany();
const before = process.cpuUsage();
callMany();
finish({ cpuMs: cpuSince(before) / CALLS });
