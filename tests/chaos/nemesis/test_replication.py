"""Fail-over is real: acknowledged commits survive on the synchronous standby, and are lost, and reported, on a lagging asynchronous one."""
import unittest
import uuid

from .history import History
from .replication import Replication, lsn_number, wait_until
from .testing import NemesisTest, faults, timed
from .wire import ServerError


class ReplicationTest(NemesisTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        seconds, cls.cluster = timed(Replication(cls.world, "rep").start)
        print(f"  three servers: {seconds:.1f} s", flush=True)
        cls.producer = History(cls.world.history_dir, "producer")

    @classmethod
    def tearDownClass(cls):
        cls.producer.close()
        cls.cluster.stop()

    def enqueue(self, keys):
        """Through whichever server takes writes, as a client with the URL of all three."""
        n = self.producer.call("enqueue", keys=keys)
        jobs = []
        for key in keys:
            made = self.world.run([self.world.program("millrace"), "enqueue", "noop", "--payload", f'{{"key_id": "{key}"}}', "--database-url",
                                   self.cluster.url()])
            jobs.append({"key": key, "job": str(uuid.UUID(made.strip()))})
        self.producer.ok(n, jobs=jobs)
        return [job["job"] for job in jobs]

    def known(self, job):
        return self.cluster.primary.number(f"select count(*) from millrace.job_fact where job_id = '{job}'") == 1

    def test_everything_in_order(self):
        """One test, since the roles move on from step to step."""
        self.lose_nothing_with_the_synchronous_standby()
        self.lose_and_report_what_the_asynchronous_standby_did_not_get()
        self.fence_a_primary_that_comes_back()

    def lose_nothing_with_the_synchronous_standby(self):
        old = self.cluster.primary
        jobs = self.enqueue(["s1", "s2"])
        result = self.cluster.fail_over("sync")
        self.assertIsNot(self.cluster.primary, old)
        self.assertTrue(all(map(self.known, jobs)))
        jobs += self.enqueue(["s3"])
        self.assertTrue(self.known(jobs[-1]))
        self.assertEqual(self.cluster.report_losses(result)["keys"], [])
        seconds, how = timed(self.cluster.rejoin)
        self.assertEqual(self.standbys(), {self.cluster.sync.name: "sync", self.cluster.asynchronous.name: "async"})
        self.assertTrue(all(map(self.known, jobs)))
        self.figure(f"sync: writable {result.seconds:.2f} s after the kill, {result.lost_bytes} bytes lost, standbys back after {seconds:.1f} s {how}")

    def standbys(self):
        return dict(self.cluster._ask("select application_name, sync_state from pg_stat_replication"))

    def lose_and_report_what_the_asynchronous_standby_did_not_get(self):
        self.cluster.hold_async()
        early = self.enqueue(["a1"])
        self.cluster.release_async()
        received = self.cluster.asynchronous.received_lsn
        self.cluster._ask("select pg_switch_wal()")
        goal = lsn_number(self.cluster._ask("select pg_current_wal_lsn()")[0][0])
        wait_until(lambda: lsn_number(received()) >= goal, 30, "the asynchronous standby catches up")
        self.cluster.hold_async()
        late = self.enqueue(["a2", "a3"])
        self.assertGreater(self.cluster.lag_bytes(), 0)
        result = self.cluster.fail_over("async")
        self.assertTrue(all(map(self.known, early)))
        self.assertFalse(any(map(self.known, late)))
        self.assertGreaterEqual(result.lost_commits, 2)
        losses = self.cluster.report_losses(result)
        self.assertEqual((losses["keys"], losses["jobs"], losses["outside_lag"]), (["a2", "a3"], sorted(late), []))
        self.assertEqual(faults("reported_loss")[-1]["keys"], ["a2", "a3"])
        seconds, how = timed(self.cluster.rejoin)
        self.assertNotIn("follows", how.values())  # Both had gone further than the new timeline.
        self.figure(f"async: {result.lost_commits} commits, {result.lost_bytes} bytes, {result.lag_ms:.0f} ms lost and reported; standbys back after "
                    f"{seconds:.1f} s {how}")

    def fence_a_primary_that_comes_back(self):
        old = self.cluster.primary
        self.cluster.fail_over("sync")
        old.launch()
        with self.assertRaises(ServerError) as caught:
            old.sql("create table public.stale (a int)")
        self.assertEqual(caught.exception.sqlstate, "25006")
        self.assertTrue(self.known(self.enqueue(["f1"])[0]))  # The old one comes first in the URL.
        old.stop_fast()
        self.cluster.rejoin()


if __name__ == "__main__":
    unittest.main()
