"""What the tests of the checker share: a small world with a producer and two workers, and what a check of it must say."""
import json
import pathlib
import tempfile
import unittest

from proof import Options, check_run
from synthetic_run import World


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.world = World()
        self.producer = self.world.process("producer")
        self.worker = self.world.process("worker")
        self.other = self.world.process("worker")

    def check(self, **options):
        self.world.write(self.folder.name)
        return check_run(self.folder.name, Options(**options))

    def assert_clean(self, **options):
        verdict = self.check(**options)
        self.assertEqual(verdict.counts, {}, verdict.text())
        self.assertTrue(verdict.ok, verdict.text())
        return verdict

    def assert_only(self, category, count=1, **options):
        """Exactly this category, so often; and its story is told."""
        verdict = self.check(**options)
        self.assertEqual(verdict.counts, {category: count}, verdict.text())
        self.assertFalse(verdict.ok)
        written = json.loads((pathlib.Path(self.folder.name) / "violations.json").read_text())
        self.assertEqual(written["counts"], {category: count})
        return verdict

    def assert_tells(self, verdict, *words):
        story = "\n".join(verdict.violations[0].story)
        at = 0
        for word in words:
            found = story.find(word, at)
            self.assertGreaterEqual(found, 0, f"'{word}' is not told, or not in this order:\n{story}")
            at = found

    def plain(self, key="k1", worker=None, **row):
        """A job that goes well."""
        job = self.world.enqueue(self.producer, key, **row)
        delivery = self.world.claim(worker or self.worker, job)
        self.world.work(delivery)
        self.world.settle(delivery)
        return job, delivery

    def lost_lease(self, key="k1", after_ms=1200):
        """A job whose holder was killed, until it can be claimed again."""
        job = self.world.enqueue(self.producer, key)
        delivery = self.world.claim(self.worker, job)
        self.world.work(delivery, end=False)
        self.world.kill(self.worker)
        self.world.advance(after_ms)
        self.world.reclaim(job)
        return job, delivery
