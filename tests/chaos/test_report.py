#!/usr/bin/env python3
"""The report is whole, needs nothing outside itself, shows what was found, and text from a run cannot break it."""
import html.parser
import re
import tempfile
import unittest
import xml.etree.ElementTree

from proof import Options, check_run, write_report
from proof.report import render
from proof.report_charts import amount, fault_lanes, merge_marks, nice_step, time_marks
from proof.verdict import Verdict
from synthetic_load import Load, break_promises

VOID = frozenset(("meta", "br", "hr", "link", "img", "input"))


class Balance(html.parser.HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.problems, self.seen = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        load = Load(seed=3, jobs=900, per_second=240)
        load.run()
        break_promises(load.world)
        load.world.write(cls.folder.name, seed=3, profile="short", name="<b>bold & co</b>", conditions={"<script>": "a < b"})
        cls.verdict = check_run(cls.folder.name, Options())
        cls.text = write_report(cls.folder.name, cls.verdict).read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_EveryElementIsClosed(self):
        balance = Balance()
        balance.feed(self.text)
        self.assertEqual((balance.problems, balance.open), ([], []))
        self.assertLessEqual({"svg", "table", "details", "pre", "style"}, balance.seen)

    def test_PicturesAreWellFormed(self):
        pictures = re.findall(r"<svg.*?</svg>", self.text, re.S)
        self.assertGreaterEqual(len(pictures), 3)
        for picture in pictures:
            for element in xml.etree.ElementTree.fromstring(picture).iter():
                for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
                    self.assertNotIn("nan", element.get(name, ""))

    def test_NothingIsFetched(self):
        for word in ("http:", "https:", "src=", "@import", "url(", "<link", "<script"):
            self.assertNotIn(word, self.text)

    def test_TextFromTheRunIsOnlyText(self):
        self.assertIn("&lt;b&gt;bold &amp; co&lt;/b&gt;", self.text)
        self.assertIn("&lt;script&gt;", self.text)

    def test_EverythingThatWasFoundIsShown(self):
        self.assertIn("PROMISES BROKEN", self.text)
        for violation in self.verdict.violations:
            self.assertIn(violation.subject, self.text)
        self.assertIn("make chaos PROFILE=short SEED=3", self.text)
        self.assertIn("prefers-color-scheme: dark", self.text)

    def test_AReportCanBeWrittenAgainFromItsFile(self):
        self.assertEqual(render(Verdict.read(self.folder.name)), self.text)

    def test_AnEmptyVerdictHasAReport(self):
        balance = Balance()
        balance.feed(render(Verdict()))
        self.assertEqual((balance.problems, balance.open), ([], []))

    def test_MarksThatCoverEachOtherBecomeOne(self):
        self.assertEqual([m[:2] for m in merge_marks([(10.0, "a", 1.0), (11.0, "b", 1.1), (20.0, "c", 2.0)])], [[10.0, 2], [20.0, 1]])

    def test_LanesHaveAFixedOrder(self):
        lanes = fault_lanes({"strange": [[1, ""]], "pg_up": [[1, ""]], "kill": [[1, ""]], "http_before": [[1, ""]], "http_after": [[2, ""]], "start": [[1, ""]]})
        self.assertEqual([name for name, _ in lanes], ["kill", "pg_up", "http", "strange"])

    def test_NumbersAreShort(self):
        self.assertEqual([amount(n) for n in (0, 950, 9523, 12345, 280000, 1234567)], ["0", "950", "9 523", "12.3 k", "280 k", "1.2 M"])
        self.assertEqual([nice_step(s, 4) for s in (1, 9, 37)], [0.5, 5, 10])
        self.assertEqual(time_marks(400)[:3], [(0, "0:00"), (60, "1:00"), (120, "2:00")])


if __name__ == "__main__":
    unittest.main()
