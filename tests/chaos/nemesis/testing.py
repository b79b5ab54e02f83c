"""What the self-tests share: one world in memory, with clusters that are copies of one migrated template."""
import atexit
import os
import pathlib
import time
import unittest

from .history import read_all
from .world import World

_world = None


def world():
    """In memory when there is room: these tests are about faults, not about disks."""
    global _world
    if _world is None:
        _world = World(build=os.environ.get("MILLRACE_BUILD"), parent="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)
        atexit.register(_world.stop)
    return _world


def faults(kind=None, target=None):
    """What the histories of this world say, by time."""
    return [line for line in read_all(world().history_dir, "*.jsonl") if line["op"] == "fault"
            and kind in (None, line["kind"]) and target in (None, line["target"])]


def timed(call, *arguments, **options):
    """(seconds, result)"""
    began = time.monotonic()
    result = call(*arguments, **options)
    return time.monotonic() - began, result


class NemesisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = world()

    def figure(self, text):
        print(f"  {self._testMethodName}: {text}", flush=True)
