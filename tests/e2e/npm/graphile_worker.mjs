// graphile-worker itself: makes its tables and jobs (fill), or runs what its workers get now (work).
// node graphile_worker.mjs PACKAGE MAJOR fill|work; the database comes in PGHOST, PGDATABASE, PGUSER.
import pg from "pg";

const [, , packageName, , verb] = process.argv;
const module = await import(packageName);
const { Logger, makeWorkerUtils, runOnce } = module.makeWorkerUtils ? module : module.default;
const logger = new Logger(() => () => {});
const pgPool = new pg.Pool({
  host: process.env.PGHOST,
  database: process.env.PGDATABASE,
  user: process.env.PGUSER,
  max: 4,
});
for (const event of ["error", "connect"]) pgPool.on(event, (it) => it.on?.("error", () => {}));

const run = (taskList) => runOnce({ pgPool, logger, noHandleSignals: true, concurrency: 1, taskList });
const say = (result) =>
  new Promise((resolve) => process.stdout.write(JSON.stringify(result) + "\n", resolve));

async function fill() {
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const hour = new Date(Date.now() + 3600_000);
  for (let n = 1; n <= 5; n++) await utils.addJob("mail", { n });
  await utils.addJob("mail", { urgent: true }, { priority: -7 });
  await utils.addJob("mail", { later: true }, { runAt: hour });
  await utils.addJob("mail", { patient: true }, { maxAttempts: 4 });
  await utils.addJob("report", { month: 5 }, { jobKey: "monthly" });
  await utils.addJob("step", { n: 1 }, { queueName: "one after the other" });
  await utils.addJob("step", { n: 2 }, { queueName: "one after the other" });
  await utils.addJob("flaky", {}, { maxAttempts: 5 });
  await utils.addJob("done", {});
  await run({
    done: async () => {},
    flaky: async () => {
      throw new Error("not yet");
    },
  });
  await utils.addJob("busy", {});
  await say({});
  // Its worker dies at work: the job stays locked.
  await run({ busy: async () => process.exit(0) });
  process.exit(1);
}

async function work() {
  const got = [];
  const task = (name) => async () => void got.push(name);
  const names = ["mail", "report", "step", "flaky", "done", "busy"];
  const taskList = Object.fromEntries(names.map((name) => [name, task(name)]));
  // One pass may leave the next job of a named queue behind.
  for (let before = -1; before < got.length; ) {
    before = got.length;
    await run(taskList);
  }
  await say(got);
  process.exit(0);
}

await (verb === "fill" ? fill() : work());
