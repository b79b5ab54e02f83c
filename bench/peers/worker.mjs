// One worker process of a peer: started by peer.mjs, tells it what was done.
import { adapterOf, now } from "./common.mjs";

let done = 0;
let first = null;
let told = 0;
let spec = null;

function onJobs(payloads) {
  const at = now();
  first ??= at;
  done += payloads.length;
  if (spec.eachJob) {
    for (const payload of payloads) process.send({ started: payload.number, at });
  }
}

process.on("message", async (message) => {
  spec = message;
  const adapter = await adapterOf(spec.peer);
  await adapter.startWorker(spec.url, spec.config, onJobs);
  process.send({ ready: true });
  setInterval(() => {
    if (done === told) return;
    told = done;
    process.send({ done, first });
  }, 20);
});
process.on("disconnect", () => process.exit(0));
