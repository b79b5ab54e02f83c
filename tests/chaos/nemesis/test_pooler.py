"""The pooler runs in transaction mode; its death ends its clients' lines, and after a restart it serves again."""
import unittest

from .history import now_ns
from .pooler import Pooler
from .postgres import Postgres
from .replication import wait_until
from .testing import NemesisTest, faults
from .wire import ConnectionLost, ServerError


class PoolerTest(NemesisTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = Postgres(cls.world, "pooled", migrated=False).start()
        cls.pooler = Pooler(cls.world, cls.database, pool_size=1).start()

    @classmethod
    def tearDownClass(cls):
        cls.pooler.stop()
        cls.database.stop()

    def test_transactions_of_two_clients_share_one_server_connection(self):
        with self.pooler.connect() as one, self.pooler.connect() as two:
            self.assertEqual(one.value("select pg_backend_pid()"), two.value("select pg_backend_pid()"))

    def test_kill_ends_clients_and_restart_serves_again(self):
        client = self.pooler.connect()
        self.addCleanup(client.close)
        self.assertEqual(client.value("select 1"), "1")
        self.pooler.kill()
        with self.assertRaises(ConnectionLost):
            client.query("select 1")
        with self.assertRaises(OSError):
            self.pooler.connect()
        up = self.pooler.restart()
        with self.pooler.connect() as again:
            self.assertEqual(again.value("select 1"), "1")
        kinds = [line["kind"] for line in faults() if line["target"].startswith("pooler")]
        self.assertEqual(kinds[-2:], ["kill", "pool_up"])
        self.figure(f"back after {up.seconds * 1000:.0f} ms")

    def test_a_pause_holds_clients_until_resumed(self):
        with self.pooler.connect(timeout=0.3) as client:
            client.query("select 1")
            self.pooler.pause_servers()
            with self.assertRaises(ConnectionLost):
                client.query("select 2")
            self.pooler.resume_servers()
            client.socket.settimeout(10)
            self.assertEqual(client.read_message()[0], b"T")

    def test_survives_a_crash_of_the_server_behind_it(self):
        client = self.pooler.connect(timeout=0.5)
        self.addCleanup(client.close)
        client.query("select 1")
        self.database.crash()
        with self.assertRaises(ConnectionLost) as waited:  # The pooler keeps it waiting rather than to refuse.
            client.query("select 1")
        self.assertIn("timed out", str(waited.exception))
        up = self.database.restart()
        with self.assertRaises(ServerError) as caught:
            self.ask()
        wait_until(self.ask, 30, "the pooler tries the server again")
        self.figure(f"refuses with \"{caught.exception}\" until {(now_ns() - up.accepts_at) / 1e9:.1f} s after the server is back")

    def ask(self):
        with self.pooler.connect() as client:
            return client.value("select 1") == "1"


if __name__ == "__main__":
    unittest.main()
