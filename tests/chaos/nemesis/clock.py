"""FakeClock: programs whose wall clock is wrong, and changes while they run (libfaketime). Monotonic time is left alone.

    reason = why_not()                                 None, or why it cannot be done here
    clock = FakeClock(world, "clock-1")
    world.processes.start("worker-1", argv, env=clock.environment())
    clock.step(+3600), clock.step(-3600)               from the next reading on the program's wall clock is off by so many seconds
    clock.freeze()                                     it stands still at what it shows now
    clock.heal()                                       right again

Every program started with the environment of one FakeClock shows the same wrong time; make one per program for clocks that differ. The
database's clock is not touched, unless Postgres(env=clock.environment()) is started with one. Faults written: clock (with offset_s or frozen_at), heal.
"""
import os
import pathlib
import time

LIBRARY = "faketime/libfaketimeMT.so.1"


def library():
    for folder in sorted(pathlib.Path("/usr/lib").glob("*-linux-gnu")):
        if (folder / LIBRARY).exists():
            return folder / LIBRARY
    return None


def why_not():
    return None if library() else "libfaketime is not installed"


class FakeClock:
    def __init__(self, world, name):
        self.world, self.name = world, name
        self._path = world.dir / f"{name}.faketime"
        self._offset = 0.0
        self._write("+0")

    def environment(self):
        return {
            "LD_PRELOAD": library(), "FAKETIME_TIMESTAMP_FILE": self._path, "FAKETIME_NO_CACHE": "1", "TZ": "UTC",
            # Durations, leases and deadlines run on the monotonic clock, which nobody can step.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        }

    def _write(self, text):
        """Renamed into place: a program reads it at any moment."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text + "\n")
        os.replace(fresh, self._path)

    def step(self, seconds):
        """Off by this much from the true time; steps do not add up."""
        self._offset = float(seconds)
        self.world.history.fault("clock", self.name, offset_s=seconds)
        self._write(f"{seconds:+}")

    def freeze(self):
        at = time.time() + self._offset
        self.world.history.fault("clock", self.name, frozen_at=int(at * 1000))
        self._write(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at)))

    def heal(self):
        self._offset = 0.0
        self._write("+0")
        self.world.history.fault("heal", self.name)
