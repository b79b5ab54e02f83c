"""Processes are really killed, stopped, woken and ended, also when the run that started them is killed itself."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from .guard import start_time
from .history import History, read_file
from .processes import open_pidfd, wait_gone
from .testing import NemesisTest, faults, timed

# Counts into a file for as long as it runs; says in the file given that it is ready.
COUNTER = "import sys,time,os\nopen(sys.argv[1],'w').write('ready')\nwhile True: print('tick', flush=True); time.sleep(0.01)"


class ProcessesTest(NemesisTest):
    def start(self, name):
        ready = self.world.dir / f"{name}.ready"
        return self.world.processes.start(name, [sys.executable, "-c", COUNTER, ready], ready_file=ready)

    def test_kill_and_restart(self):
        process = self.start("killed")
        self.assertTrue(process.alive)
        process.kill()
        self.assertFalse(process.alive)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        process.restart()
        self.assertTrue(process.alive)
        self.assertEqual(process.starts, 2)
        process.end()
        self.assertEqual([line["kind"] for line in faults(target="killed")], ["kill", "start"])

    def test_zombie_stands_still_and_wakes(self):
        process = self.start("zombie")
        process.stop()
        self.assertIn("State:\tT", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        size = process.log.stat().st_size
        self.assertIsNone(process.wait(0.1))
        self.assertEqual(process.log.stat().st_size, size)
        process.cont()
        seconds, lived = timed(process.zombie, 0.2)
        self.assertTrue(lived)
        self.assertGreaterEqual(seconds, 0.2)
        deadline = time.monotonic() + 10
        while process.log.stat().st_size == size and time.monotonic() < deadline:
            process.wait(0.01)
        self.assertGreater(process.log.stat().st_size, size)
        process.end()
        self.assertEqual([line["kind"] for line in faults(target="zombie")], ["stop", "cont", "stop", "cont"])

    def test_a_zombie_that_is_killed_meanwhile_is_noticed(self):
        process = self.start("killed zombie")
        process.stop()
        process.signal(signal.SIGKILL)
        self.assertFalse(process.zombie(30))

    def test_a_program_that_does_not_become_ready_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "no such luck"):
            self.world.processes.start("failing", [sys.executable, "-c", "print('no such luck')"], ready_file=self.world.dir / "never")

    def test_kill_takes_the_whole_tree(self):
        ready = self.world.dir / "tree.ready"
        process = self.world.processes.start("tree", ["sh", "-c", f"sleep 1000 & echo x > {ready}; wait"], ready_file=ready)
        child, = process.tree()[1:]
        process.kill(tree=True)
        self.assertIsNone(start_time(child))

    def test_nothing_outlives_a_run_that_is_killed(self):
        script = ("import sys, os, signal\nfrom nemesis.world import World\n"
                  "w = World(); p = w.processes.start('x', ['sleep', '1000'])\nprint(w.dir, p.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)")
        done = subprocess.run([sys.executable, "-c", script], cwd=pathlib.Path(__file__).parents[1], capture_output=True, text=True)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        folder, pid = done.stdout.split()
        fd = open_pidfd(int(pid))
        self.assertTrue(fd is None or wait_gone([fd], 10))
        self.world.run(["rm", "-rf", folder])


class HistoryTest(NemesisTest):
    def test_lines_are_as_agreed(self):
        history = History(self.world.dir / "example", "producer")
        n = history.call("enqueue", keys=["k1"])
        history.ok(n, jobs=[{"key": "k1", "job": "j"}])
        history.unknown(history.call("enqueue", keys=["k2"]), error="cut")
        history.phase("load")
        history.close()
        lines = read_file(history.path)
        self.assertRegex(history.path.name, r"^producer-\d+-[0-9a-f]{8}\.jsonl$")
        self.assertEqual([(line["op"], line.get("ph"), line.get("n")) for line in lines],
                         [("hello", None, None), ("enqueue", "call", 0), ("enqueue", "ok", 0), ("enqueue", "call", 1), ("enqueue", "unknown", 1), ("phase", None, None)])
        self.assertEqual(lines[0]["pid"], os.getpid())
        self.assertEqual(lines, sorted(lines, key=lambda line: line["t"]))

    def test_a_line_cut_off_by_a_kill_is_left_out(self):
        path = self.world.dir / "producer-1-00000000.jsonl"
        path.write_text(json.dumps({"t": 1, "op": "hello"}) + "\n" + '{"t":2,"op":"enq')
        self.assertEqual(len(read_file(path)), 1)


if __name__ == "__main__":
    unittest.main()
