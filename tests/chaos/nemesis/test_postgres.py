"""A crash ends every process of the server, nothing acknowledged is lost by it, and the server comes back."""
import threading
import unittest

from .guard import children
from .history import now_ns
from .postgres import Postgres
from .testing import NemesisTest, faults, timed
from .wire import ConnectionLost, ServerError


class PostgresTest(NemesisTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = Postgres(cls.world, "crashing").start()
        cls.database.sql("create table public.t (a int)")

    @classmethod
    def tearDownClass(cls):
        cls.database.stop()

    def test_is_durable_and_migrated(self):
        settings = [self.database.sql(f"show {name}") for name in ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses")]
        self.assertEqual(settings, ["on", "on", "on", ""])
        self.assertEqual(self.database.number("select count(*) from millrace.ready"), 0)

    def test_every_way_down_keeps_what_was_acknowledged(self):
        ways = {"postmaster": self.database.crash, "machine": lambda: self.database.crash(children_too=True),
                "immediate": self.database.stop_immediate, "fast": self.database.stop_fast}
        for name, go_down in ways.items():
            with self.subTest(name):
                acknowledged = self.load_until(go_down)
                self.assertFalse(self.database.alive)
                before = now_ns()
                up = self.database.restart()
                self.assertLess(before, up.accepts_at)
                found = self.database.number("select count(distinct a) from public.t")
                self.assertIn(found - len(acknowledged), (0, 1))  # One more: committed, and the answer lost.
                self.database.sql("truncate public.t")
                self.figure(f"{name}: {len(acknowledged)} acknowledged, {found} found, accepts connections after {up.seconds:.2f} s")
        kinds = [line["kind"] for line in faults(target="crashing")]
        self.assertEqual(kinds.count("pg_up"), 1 + len(ways))

    def load_until(self, go_down):
        """Inserts from another thread until the server goes; what was acknowledged."""
        acknowledged, some = [], threading.Event()

        def insert():
            client = self.database.connect()
            try:
                for number in range(1_000_000):
                    client.query(f"insert into public.t values ({number})")
                    acknowledged.append(number)
                    if number == 50:
                        some.set()
            except (ConnectionLost, ServerError):
                client.close()

        thread = threading.Thread(target=insert)
        thread.start()
        self.assertTrue(some.wait(30))
        pids = children(self.database.pid)
        go_down()
        thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertGreater(len(pids), 3)
        self.assertEqual([pid for pid in pids if pid in map(int, self.postgres_pids())], [])
        return acknowledged

    def postgres_pids(self):
        return self.world.run(["pgrep", "-f", str(self.database.data)], check=False).stdout.split()

    def test_terminated_backends_are_gone(self):
        client = self.database.connect()
        self.addCleanup(client.close)
        self.assertGreaterEqual(self.database.terminate_backends(), 1)
        with self.assertRaises((ConnectionLost, ServerError)):
            client.query("select 1")
        self.assertEqual(self.database.sql("select 1"), "1")

    def test_a_second_cluster_is_a_quick_copy(self):
        seconds, other = timed(Postgres(self.world, "copy").start)
        self.assertEqual(other.number("select count(*) from millrace.ready"), 0)
        other.stop()
        self.figure(f"{seconds:.2f} s")


if __name__ == "__main__":
    unittest.main()
