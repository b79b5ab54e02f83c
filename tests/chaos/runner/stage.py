"""Stage: what one campaign gets: its own seed and directory, the profile's counts, a progress line, and the way to a judged end."""
import pathlib
import random
import sys
import time

from nemesis.postgres import Postgres
from nemesis.world import World

from .deployment import Deployment


class Stage:
    def __init__(self, name, options, counts, timed=True):
        self.name, self.options, self.counts, self.timed = name, options, counts, timed
        self.random = random.Random(f"{options.seed}/{name}")
        self.began = time.monotonic()
        self._told = 0.0

    def world(self):
        return World(build=self.options.build)

    def deployment(self, world, database=None, **options):
        database = database or Postgres(world, name="db").start()
        deployment = Deployment(world, database, self.random, **options)
        deployment.prepare()
        return deployment

    def progress(self, done, total, text=""):
        """On a terminal one line that moves; else a line every ten seconds."""
        now = time.monotonic()
        if sys.stdout.isatty():
            width = 24
            filled = int(width * done / max(1, total))
            print(f"\r  {self.name:<12}[{'#' * filled}{'.' * (width - filled)}] {done}/{total} {text}\x1b[K", end="", flush=True)
        elif now - self._told >= 10 or done == total:
            self._told = now
            print(f"  {self.name}: {now - self.began:5.0f} s, {done}/{total} {text}", flush=True)

    def finish(self, deployment, figures=None, patience=30, **options):
        """Ends the load, lets everything settle, judges. Workers that can finish the rest must be running."""
        world = deployment.world
        world.history.phase("heal")
        deployment.stop_producers()
        seconds = deployment.settle_down(patience)
        world.history.phase("recovered" if seconds is not None else "stuck")
        deployment.end_workers()
        # Beside another campaign, or a build, a machine is slow in unpredictable ways: what happens is judged there, not how fast.
        if not self.timed:
            options = {"recovery_margin_ms": 20_000, "supervised_ms": 20_000, "resume_ms": 30_000} | options
        conditions = {"profile": self.options.profile, "seed": self.options.seed, "campaign": self.name, "counts": self.counts,
                      "settled_after_s": None if seconds is None else round(seconds, 1)} | (figures or {})
        verdict = deployment.judge(self.name, self.options.out, conditions, profile=self.options.profile, seed=self.options.seed, **options)
        verdict.check("P5", "nothing lives when the load has ended", seconds is not None, "stuck" if seconds is None else f"after {seconds:.1f} s")
        for name, figure in (figures or {}).items():
            verdict.figures[name] = figure
        return verdict

    @property
    def directory(self):
        return pathlib.Path(self.options.out) / self.name
