"""The ledger writes down what arrives before it answers, misbehaves as its seed says, and watches its own limit; a real worker lives with it."""
import collections
import http.client
import json
import unittest

from .history import read_all
from .http_ledger import PASSING_MAX, HttpLedger, Window, fate, mood
from .postgres import Postgres
from .replication import wait_until
from .testing import NemesisTest, faults

ALL = {"before": 0.1, "after": 0.1, "slow": 0.05, "throttle": 0.1, "fail": 0.1, "wrong": 0.1, "redirect": 0.1}


class LedgerTest(NemesisTest):
    def setUp(self):
        self.ledger = HttpLedger(self.world, seed=11, name=self._testMethodName).start()
        self.addCleanup(self.ledger.stop)

    def post(self, name, timeout_ms=50):
        """(status, headers, body), or the exception."""
        line = http.client.HTTPConnection("127.0.0.1", self.ledger.port, timeout=5)
        try:
            line.request("POST", "/effect", json.dumps({"job_id": "j-" + name, "payload": {"key_id": name}}),
                         {"Idempotency-Key": name + ":1", "X-Millrace-Timeout-Ms": str(timeout_ms)})
            answer = line.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except OSError as error:
            return error
        finally:
            line.close()

    def effects(self, name):
        return [line for line in read_all(self.world.history_dir, "handler-server-*.jsonl") if line["op"] == "effect" and line["name"] == name]

    def test_every_mood(self):
        self.assertEqual(self.post("fine")[0], 200)
        self.assertEqual([(e["key"], e["job"], e["status"], e["answered"]) for e in self.effects("fine")], [("fine:1", "j-fine", 200, True)])
        for how in ALL:
            self.ledger.misbehave(**{how: 1.0})
            answer = self.post(how)
            seen = [(e["status"], e["answered"]) for e in self.effects(how)]
            if how in ("before", "after"):
                self.assertIsInstance(answer, ConnectionResetError)
                self.assertEqual(seen, [] if how == "before" else [(200, False)])
                continue
            status = {"throttle": 429, "fail": 500, "redirect": 302}.get(how, 200)
            self.assertEqual((answer[0], seen), (status, [(status, True)]), how)
            if how == "throttle":
                self.assertEqual(answer[1]["Retry-After"], "1")
            if how == "wrong":
                self.assertRaises(ValueError, json.loads, answer[2])
            self.assertEqual(len(faults("http_" + how, self.ledger.name)), 1)
        self.ledger.behave()
        self.assertEqual(self.post("healed")[0], 200)

    def test_the_seed_decides(self):
        names = [f"n{i}" for i in range(2000)]
        fates = collections.Counter(fate(1, ALL, name) for name in names)
        self.assertTrue(150 < fates["wrong"] < 250 and 150 < fates["redirect"] < 250, fates)
        self.assertEqual([mood(1, ALL, name, 1) for name in names], [mood(1, ALL, name, 1) for name in names])
        self.assertNotEqual([mood(1, ALL, name, 1) for name in names], [mood(2, ALL, name, 1) for name in names])
        self.assertEqual({mood(1, ALL, name, PASSING_MAX + 1) for name in names}, {"ok", "wrong", "redirect"})

    def test_its_own_limit(self):
        window = Window(2, 100, enforce=False)
        self.assertEqual([window.arrive(t) for t in (0, 50, 99, 100, 300)], [False, False, True, True, False])
        self.assertEqual(window.most, 3)
        self.ledger.limit(2, 60_000, enforce=True)
        self.assertEqual([self.post(f"l{i}")[0] for i in range(3)], [200, 200, 429])
        counts = self.ledger.counts()
        self.assertEqual((counts["over_limit"], counts["most_in_window"]), (1, 2))

    def test_a_real_worker_lives_with_it(self):
        database = Postgres(self.world, "ledger_db").start()
        self.addCleanup(database.stop)
        config = self.world.dir / "ledger.toml"
        config.write_text(f'[[queue]]\nname = "out"\nmax_attempts = 20\nbackoff_base = "50ms"\nbackoff_cap = "200ms"\n'
                          f'[[handler]]\ntype = "call"\nrun = "{self.ledger.url}"\nqueue = "out"\ntimeout = "1s"\n')
        ready = self.world.dir / "ledger.json"
        worker = self.world.processes.start("ledger-worker", [self.world.program("millrace"), "worker", "--config", config, "--database-url", database.url(),
                                                              "--ready-file", ready, "--lease", "3s"], ready_file=ready)
        self.addCleanup(worker.end)
        self.ledger.misbehave(**ALL)
        names = [f"w{i}" for i in range(60)]
        jobs = json.dumps([{"job_type": "call", "payload": {"key_id": name}} for name in names])
        database.sql(f"select count(*) from millrace.enqueue_jobs('{jobs}')")
        wait_until(lambda: database.number("select count(*) from millrace.job_place where place = 'history'") == len(names), 60, "all jobs end")
        with database.connect() as client:
            ended = dict(client.query("select f.payload ->> 'key_id', h.status from millrace.job_place h join millrace.job_fact f using (job_id)"))
        expected = {name: "completed" if fate(11, ALL, name) == "ok" else "failed" for name in names}
        self.assertEqual(ended, expected)
        counts = self.ledger.counts()
        lost = sum(line["mood"] in ("after", "slow") for name in names for line in self.effects(name))
        self.assertLessEqual(counts["duplicates"], lost)  # Only where the answer was lost.
        self.figure(f"{counts['requests']} requests for {len(names)} jobs: {counts}")


if __name__ == "__main__":
    unittest.main()
