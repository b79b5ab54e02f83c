"""Figures beside their goals: what is held, what is missed, and the exit code."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from verdicts import Verdicts  # noqa: E402


def ended(verdicts):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = verdicts.end()
    return code, out.getvalue()


class TestVerdicts(unittest.TestCase):
    def test_held_figures_end_with_0_and_stand_beside_their_goals(self):
        verdicts = Verdicts()
        verdicts.at_least("pages", 1.2, 1.2)
        verdicts.at_most("memory, MB", 134, 150, form=".0f")
        code, text = ended(verdicts)
        self.assertEqual(code, 0)
        self.assertRegex(text, r"pages\s+1\.200\s+goal >= 1\.200\s+held")
        self.assertRegex(text, r"memory, MB\s+134\s+goal <= 150\s+held")

    def test_one_missed_figure_among_held_ones_ends_with_1(self):
        for miss in (lambda v: v.at_least("a", 0.9499, 0.95), lambda v: v.at_most("a", 150.1, 150)):
            verdicts = Verdicts()
            verdicts.at_least("b", 2, 1)
            miss(verdicts)
            code, text = ended(verdicts)
            self.assertEqual(code, 1)
            self.assertEqual(text.count("MISSED"), 1)

    def test_a_figure_that_could_not_be_taken_is_missed(self):
        for judge in ("at_least", "at_most"):
            verdicts = Verdicts()
            getattr(verdicts, judge)("a", float("nan"), 1)
            self.assertEqual(ended(verdicts)[0], 1)

    def test_figures_without_a_goal_are_told_and_hold_nothing(self):
        verdicts = Verdicts()
        verdicts.told("a", 5)
        code, text = ended(verdicts)
        self.assertEqual(code, 1)
        self.assertIn("no goal", text)
        verdicts.at_least("b", 2, 1)
        self.assertEqual(ended(verdicts)[0], 0)


if __name__ == "__main__":
    unittest.main()
