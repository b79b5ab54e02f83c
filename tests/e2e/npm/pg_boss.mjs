// pg-boss itself: makes its tables and jobs (fill), or says what its workers would get now (work).
// node pg_boss.mjs PACKAGE MAJOR fill|work; the database comes in PGHOST, PGDATABASE and PGUSER.
const [, , packageName, major, verb] = process.argv;
const old = Number(major) < 10;
const module = await import(packageName);
const PgBoss = module.PgBoss ?? module.default;

const boss = new PgBoss({
  host: process.env.PGHOST,
  database: process.env.PGDATABASE,
  user: process.env.PGUSER,
  max: 2,
  ...(old ? { noSupervisor: true, noScheduling: true } : { supervise: false, schedule: false }),
});
boss.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
await boss.start();

const QUEUES = ["mail", "report", "done", "busy"];

async function fetchOne(queue) {
  const got = await boss.fetch(queue);
  return Array.isArray(got) ? got[0] : got;
}

async function fill() {
  if (!old) {
    for (const queue of QUEUES) {
      await boss.createQueue(queue, queue === "report" ? { policy: "short" } : {});
    }
  }
  const ids = {};
  for (let n = 1; n <= 5; n++) await boss.send("mail", { n });
  ids.urgent = await boss.send("mail", { urgent: true }, { priority: 7 });
  ids.later = await boss.send("mail", { later: true }, { startAfter: 3600 });
  ids.patient = await boss.send("mail", { patient: true }, { retryLimit: 4, expireInSeconds: 120 });
  ids.report = await boss.send("report", { month: 5 }, { singletonKey: "monthly" });
  await boss.send("done", {});
  const done = await fetchOne("done");
  await (old ? boss.complete(done.id) : boss.complete("done", done.id));
  await boss.send("busy", {});
  await fetchOne("busy");
  return ids;
}

async function work() {
  const got = [];
  for (const queue of QUEUES) {
    for (let job = await fetchOne(queue); job; job = await fetchOne(queue)) got.push(queue);
  }
  return got;
}

const result = verb === "fill" ? await fill() : await work();
process.stdout.write(JSON.stringify(result) + "\n", () => process.exit(0));
