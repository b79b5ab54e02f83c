"""The gate breaks what it says and heals what it says; commits are cut exactly before and exactly after they happen."""
import socket
import struct
import threading
import unittest

from . import wire
from .conversation import Conversation
from .gate import Gate
from .postgres import Postgres
from .testing import NemesisTest, faults, timed


class ConversationTest(unittest.TestCase):
    """Byte by byte, so that no message may hang on how the network cut it."""

    def setUp(self):
        self.talk = Conversation()
        self.requests(wire.startup_message("u", "d"))
        self.answers(wire.message(b"R", b"\0\0\0\0") + wire.message(b"Z", b"I"))

    def requests(self, data):
        items = [item for i in range(len(data)) for item in self.talk.requests(data[i:i + 1])]
        self.assertEqual(b"".join(piece for piece, _, _ in items), data)
        return [final.sql for _, final, _ in items if final]

    def answers(self, data):
        items = [item for i in range(len(data)) for item in self.talk.answers(data[i:i + 1])]
        self.assertEqual(b"".join(piece for piece, _ in items), data)
        return [(done.sql, done.committed) for _, done in items if done]

    def test_simple_statement_commits_by_itself(self):
        self.assertEqual(self.requests(wire.message(b"Q", b"insert\0")), [["insert"]])
        self.assertEqual(self.answers(wire.message(b"C", b"INSERT 0 1\0") + wire.message(b"Z", b"I")), [(["insert"], True)])

    def test_only_the_commit_of_a_block_is_final(self):
        self.assertEqual(self.requests(wire.message(b"Q", b"begin\0")), [])
        self.assertEqual(self.answers(wire.message(b"C", b"BEGIN\0") + wire.message(b"Z", b"T")), [(["begin"], False)])
        self.assertEqual(self.requests(wire.message(b"Q", b"insert\0")), [])
        self.answers(wire.message(b"Z", b"T"))
        self.assertEqual(self.requests(wire.message(b"Q", b"commit\0")), [["begin", "insert", "commit"]])
        self.assertEqual(self.answers(wire.message(b"C", b"COMMIT\0") + wire.message(b"Z", b"I")), [(["begin", "insert", "commit"], True)])

    def test_pipelined_units_are_told_apart(self):
        two = wire.parse_bind_execute("one") + wire.message(b"S") + wire.parse_bind_execute("two") + wire.message(b"S")
        self.assertEqual(self.requests(two), [["one"], ["two"]])
        both = wire.message(b"C", b"SELECT 1\0") + wire.message(b"Z", b"I")
        self.assertEqual(self.answers(both + both), [(["one"], True), (["two"], True)])

    def test_prepared_statements_are_known_by_name(self):
        self.requests(wire.message(b"P", b"p1\0settle\0\0\0") + wire.message(b"S"))
        self.answers(wire.message(b"1") + wire.message(b"Z", b"I"))
        asked = wire.message(b"B", b"\0p1\0\0\0\0\0\0\0") + wire.message(b"E", b"\0\0\0\0\0") + wire.message(b"S")
        self.assertEqual(self.requests(asked), [["settle"]])

    def test_rollbacks_and_errors_are_no_commits(self):
        self.requests(wire.message(b"Q", b"insert\0"))
        self.assertEqual(self.answers(wire.message(b"E", b"C23505\0\0") + wire.message(b"Z", b"I")), [(["insert"], False)])
        self.assertEqual(self.requests(wire.message(b"Q", b"begin; insert; rollback\0")), [])
        self.assertFalse(self.answers(wire.message(b"C", b"ROLLBACK\0") + wire.message(b"Z", b"I"))[0][1])

    def test_encryption_is_refused(self):
        talk = Conversation()
        self.assertEqual(talk.requests(struct.pack("!II", 8, wire.SSL_REQUEST) + struct.pack("!II", 8, wire.GSSENC_REQUEST)),
                         [(b"", None, b"N"), (b"", None, b"N")])


class GateTest(NemesisTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = Postgres(cls.world, "behind_gate", migrated=False).start()
        cls.database.sql("create table t (a text)")
        cls.gate = Gate(cls.world, cls.database.socket_path).start()

    @classmethod
    def tearDownClass(cls):
        cls.gate.stop()
        cls.database.stop()

    def setUp(self):
        self.gate.disarm()
        self.gate.heal()
        self.gate.reset()

    def client(self, timeout=10):
        client = wire.Client(self.gate.address, timeout=timeout)
        self.addCleanup(client.socket.close)
        return client

    def has(self, text):
        return self.database.number(f"select count(*) from t where a = '{text}'") == 1

    def test_psql_passes_with_encryption_asked_for(self):
        url = self.gate.url().replace("sslmode=disable", "sslmode=prefer")
        self.assertEqual(self.world.run(["psql", "-XqAt", "-d", url, "-c", "select 42"]).strip(), "42")
        self.assertGreater(self.gate.counts()["encryption_refused"], 0)

    def test_stall_holds_and_heal_passes_on(self):
        client = self.client(timeout=0.3)
        self.gate.stall()
        with self.assertRaises(wire.ConnectionLost):
            client.query("select 1")
        client.socket.settimeout(10)
        self.gate.heal()
        kinds = [client.read_message()[0] for _ in range(4)]
        self.assertEqual(kinds, [b"T", b"D", b"C", b"Z"])

    def test_stall_holds_new_connections(self):
        self.gate.stall()
        results = []
        thread = threading.Thread(target=lambda: results.append(self.client().value("select 7")))
        thread.start()
        thread.join(0.3)
        self.assertTrue(thread.is_alive())
        self.gate.heal()
        thread.join(10)
        self.assertEqual(results, ["7"])

    def test_cut_ends_with_eof_and_reset_with_rst(self):
        client = self.client()
        self.assertEqual(self.gate.cut(), 1)
        self.assertEqual(client.socket.recv(1), b"")
        client = self.client()
        self.assertEqual(self.gate.reset(), 1)
        with self.assertRaises(ConnectionResetError):
            client.socket.recv(1)
        self.assertEqual(self.client().value("select 1"), "1")

    def test_refuse_until_healed(self):
        self.gate.refuse()
        with self.assertRaises((wire.ConnectionLost, ConnectionResetError)):
            self.client()
        self.gate.heal()
        self.assertEqual(self.client().value("select 1"), "1")

    def test_half_open_lines_are_not_even_acknowledged(self):
        client = self.client(timeout=0.3)
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 200)
        self.assertEqual(self.gate.half_open(), 1)
        with self.assertRaises(wire.ConnectionLost):
            client.query("select 1")
        unacknowledged = struct.unpack_from("=8B24I", client.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104))[8 + 4]
        self.assertGreater(unacknowledged, 0)
        self.assertEqual(self.client().value("select 1"), "1")
        client.socket.settimeout(10)
        with self.assertRaises(TimeoutError) as caught:  # ETIMEDOUT by the kernel, not our own timeout.
            client.socket.recv(1)
        self.assertEqual(caught.exception.errno, 110)

    def test_half_open_for_new_connections_until_healed(self):
        self.gate.half_open(new="drop")
        with self.assertRaises(TimeoutError):
            self.client(timeout=0.2)
        self.gate.heal()
        self.assertEqual(self.client().value("select 1"), "1")

    def test_delay_costs_both_ways(self):
        client = self.client()
        self.gate.delay(60)
        seconds, _ = timed(client.query, "select 1")
        self.assertGreaterEqual(seconds, 0.12)
        self.gate.heal()
        self.figure(f"delay 60 ms each way: {seconds * 1000:.0f} ms")

    def test_answer_of_a_commit_is_lost(self):
        for name, ask in self.ways("after").items():
            with self.subTest(name):
                client = self.client()
                self.gate.cut_commit("after", match="insert")
                self.assertEqual(client.value("select 1"), "1")  # Not meant: passes.
                with self.assertRaises(wire.ConnectionLost):
                    ask(client)
                self.assertTrue(self.has(f"after {name}"))
                self.gate.disarm()
        points = [line["point"] for line in faults("cut", "gate") if "point" in line]
        self.assertGreaterEqual(points.count("commit.answered"), 4)

    def test_commit_does_not_arrive(self):
        for name, ask in self.ways("before").items():
            with self.subTest(name):
                client = self.client()
                self.gate.cut_commit("before", match="insert")
                with self.assertRaises(wire.ConnectionLost):
                    ask(client)
                self.assertFalse(self.has(f"before {name}"))
                self.gate.disarm()
        self.assertGreaterEqual(self.gate.counts()["commit_before"], 4)

    def ways(self, point):
        """Every way to commit: one statement, a block, the extended protocol, a pipeline, each with its own row."""
        def insert(name):
            return f"insert into t values ('{point} {name}')"

        def block(client):
            client.query("begin")
            client.query(insert("block"))
            client.query("commit")

        def extended_block(client):
            client.execute(["begin"])
            client.execute([insert("extended block")])
            client.execute(["commit"])

        return {"simple": lambda client: client.query(insert("simple")), "block": block,
                "extended": lambda client: client.execute([insert("extended")]), "extended block": extended_block,
                "pipeline": lambda client: client.execute(["select 1", insert("pipeline"), "select 2"]),
                "pipelined block": lambda client: client.execute(["begin", insert("pipelined block"), "commit"]),
                "whole text": lambda client: client.query(f"begin; {insert('whole text')}; commit")}

    def test_skip_count_and_silence(self):
        self.gate.cut_commit("after", match="insert", skip=1, count=1, how="silent")
        before = self.gate.counts()["commit_after"]
        client = self.client(timeout=0.3)
        client.query("insert into t values ('first')")
        with self.assertRaises(wire.ConnectionLost) as caught:
            client.query("insert into t values ('second')")
        self.assertIn("timed out", str(caught.exception))
        self.gate.wait_for_commit_cuts(before + 1)
        self.client().query("insert into t values ('third')")
        self.assertTrue(self.has("first") and self.has("second") and self.has("third"))

    def test_passes_on_quickly(self):
        with self.client() as client, self.database.connect() as direct:
            figures = []
            for line in (direct, client):
                seconds, _ = timed(lambda: [line.query("select 1") for _ in range(300)])
                figures.append(seconds / 300 * 1e6)
        self.figure(f"a round trip costs {figures[1]:.0f} us through the gate, {figures[0]:.0f} us directly")
        self.assertEqual(self.gate.counts()["unreachable"], 0)


if __name__ == "__main__":
    unittest.main()
