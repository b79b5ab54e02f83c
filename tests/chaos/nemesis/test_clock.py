"""A real worker's wall clock is stepped and frozen while it runs; the database sees it, and jobs go on."""
import unittest

from .clock import FakeClock, why_not
from .postgres import Postgres
from .replication import wait_until
from .testing import NemesisTest, faults


class ClockTest(NemesisTest):
    def setUp(self):
        if why_not():
            print(f"  clocks are not tested: {why_not()}", flush=True)
            self.skipTest(why_not())

    def test_a_worker_lives_with_a_wrong_clock(self):
        self.database = Postgres(self.world, "clocked").start()
        self.addCleanup(self.database.stop)
        clock = FakeClock(self.world, "clock-1")
        ready = self.world.dir / "clocked.json"
        self.worker = self.world.processes.start(
            "clocked-worker", [self.world.program("millrace"), "worker", "--database-url", self.database.url(), "--lease", "1s", "--ready-file", ready],
            env=clock.environment(), ready_file=ready)
        self.addCleanup(self.worker.end)
        self.assertLess(abs(self.skew_ms()), 60_000)
        for seconds in (3600, -3600):
            clock.step(seconds)
            self.wait_for_skew(lambda skew: abs(skew - seconds * 1000) < 60_000)
            self.run_a_job()
        clock.freeze()
        self.wait_for_skew(lambda skew: skew < -3_600_000 - 1000)  # It falls behind by itself.
        self.run_a_job()
        clock.heal()
        self.wait_for_skew(lambda skew: abs(skew) < 60_000)
        self.run_a_job()
        self.assertEqual(self.database.number("select count(*) from millrace.worker"), 1)
        self.assertNotIn("process_lease_lost", self.worker.log_text())
        self.assertEqual([line["kind"] for line in faults(target="clock-1")], ["clock", "clock", "clock", "heal"])

    def skew_ms(self):
        return self.database.number("select clock_skew_ms from millrace.worker")

    def wait_for_skew(self, condition):
        wait_until(lambda: condition(self.skew_ms()), 20, "the worker's next beat shows the wrong clock")

    def run_a_job(self):
        self.world.run([self.world.program("millrace"), "enqueue", "noop", "--payload", '{"a": 1}', "--wait", "--wait-timeout", "20s", "--database-url", self.database.url()])


if __name__ == "__main__":
    unittest.main()
