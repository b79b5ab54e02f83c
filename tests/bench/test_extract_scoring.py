"""The judge of extraction: what counts as found, as right, as in its place. Nothing is extracted here."""

import copy
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/extract")]

import scoring  # noqa: E402
from verdicts import Verdicts  # noqa: E402

PLAIN = {"negated": False, "family": False, "historical": False, "hypothetical": False}
ASSERTION = {"polarity": "affirmed", "certainty": "definite", "temporality": "current"}
WORDS = "Levothyroxin 75 µg once daily Copeptin 12 pmol/L 5. März 2024 Penicillin".split()


def entry():
    """A page that states a dose of a listed drug, a result of a test that no list has, a date and an allergy."""
    facts = [{"type": "medication", "name": "levothyroxine", "text": "levothyroxine 75 µg", "dose": {"value": 75, "unit": "mcg"}, "frequency": {"normal": "QD", "text": "once daily"}},
             {"type": "lab", "name": "Copeptin", "text": "Copeptin 12 pmol/L", "value": 12.0, "unit": "pmol/L", "novel": True},
             {"type": "date", "name": "5. März 2024", "text": "5. März 2024", "iso": "2024-03-05"},
             {"type": "allergy", "name": "penicillin", "text": "allergic to penicillin"}]
    return {"file": "a.pdf", "facts": [{"page": 1, "novel": False, "assertion": PLAIN, **fact} for fact in facts]}


def entity(number, category, first, last):
    text = " ".join(WORDS[first:last + 1])
    begin = len(" ".join(WORDS[:first])) + (1 if first else 0)
    return {"id": f"e{number}", "category": category, "text": text, "page": 1, "char": [begin, begin + len(text)], "words": [first, last], "conf": 1}


def fact(number, kind, evidence, value):
    return {"id": f"f{number}", "type": kind, "subject": "patient", "evidence": [evidence], "assertion": ASSERTION, "value": value, "conf": 1}


def said():
    """All of it, as it is stored."""
    words = [{"i": i, "text": text, "line": 0, "block": 0} for i, text in enumerate(WORDS)]
    entities = [entity(1, "MEDICATION_NAME", 0, 0), entity(2, "LAB_NAME", 5, 5), entity(3, "DATE", 8, 10), entity(4, "ALLERGEN", 11, 11)]
    drug = {"drug": "Levothyroxine", "dose": {"value": 75, "unit": "ug"}, "frequency": "once daily", "route": None}
    result = {"name": "copeptin", "value": {"value": 12, "unit": "pmol/L"}, "text": None, "comparator": None, "range": None, "flag": None}
    facts = [fact(1, "MedicationStatement", "e1", drug), fact(2, "Observation", "e2", result),
             fact(3, "AllergyIntolerance", "e4", {"substance": "Penicillin", "reaction": None, "severity": None})]
    return {"file": "a.pdf", "pages": [{"page": 1, "words": words}], "detection": {"entities": entities}, "extraction": {"facts": facts}, "rejected": [], "ms": 1.0}


def scored(change=None, truth=None):
    one = copy.deepcopy(said())
    if change:
        change(one)
    scores = scoring.Scores()
    scores.add(truth or entry(), one)
    return scores


def drug_of(one):
    return one["extraction"]["facts"][0]["value"]


class TestScoring(unittest.TestCase):
    def both(self, scores, kind):
        part = scores.kinds[kind]["all"]
        return part.recall(), part.precision()

    def test_what_says_the_same_in_other_letters_is_right(self):
        scores = scored()
        for kind in scoring.JUDGED:
            self.assertEqual(self.both(scores, kind), (1, 1), kind)
        self.assertEqual(scores.misplaced, [])

    def test_another_unit_value_or_name_is_missed_and_wrong(self):
        for change in (lambda one: drug_of(one)["dose"].update(unit="mg"), lambda one: drug_of(one)["dose"].update(unit="µg"),
                       lambda one: drug_of(one)["dose"].update(value=750), lambda one: drug_of(one).update(drug="Liothyronine")):
            self.assertEqual(self.both(scored(change), "dose"), (0, 0))

    def test_units_are_compared_by_codes_that_the_judge_knows_itself(self):
        self.assertEqual([scoring.code_of(unit) for unit in ("mcg", "units", "10^9/L", "mg/dL", "")], ["ug", "[iU]", "10*9/L", "mg/dL", ""])
        with self.assertRaises(ValueError):
            scoring.code_of("grain")

    def test_an_affirmed_allergy_is_not_a_denied_one(self):
        denied = entry()
        denied["facts"][3]["assertion"] = {**PLAIN, "negated": True}
        self.assertEqual(self.both(scored(truth=denied), "allergy"), (0, 0))

    def test_a_date_is_right_as_it_is_written(self):
        def shorter(one):
            one["detection"]["entities"][2].update(text="März 2024")
        self.assertEqual(self.both(scored(shorter), "date"), (0, 0))

    def test_another_page_is_another_fact(self):
        def elsewhere(one):
            one["detection"]["entities"][0]["page"] = 2
        self.assertEqual(self.both(scored(elsewhere), "medication"), (0, 0))

    def test_lists_part_what_is_found_from_what_is_known(self):
        scores = scored()
        self.assertEqual(scores.kinds["medication"]["listed"].truth, 1)
        self.assertEqual(scores.kinds["lab"]["new"].truth, 1)
        self.assertEqual((scores.names, scores.new_names), (3, 1))
        # A name that is made up counts where it belongs, too.
        wrong = scored(lambda one: one["extraction"]["facts"][1]["value"].update(name="Vorbelin"))
        self.assertEqual((wrong.kinds["lab"]["new"].recall(), wrong.kinds["lab"]["new"].precision()), (0, 0))

    def test_a_name_that_is_called_new_and_stands_in_a_list_is_told(self):
        false = entry()
        false["facts"][0]["novel"] = True
        self.assertEqual(scored(truth=false).false_new, {"levothyroxine"})

    def test_offsets_that_do_not_give_the_text_are_misplaced(self):
        def moved(one):
            one["detection"]["entities"][1]["char"][0] += 1
        scores = scored(moved)
        self.assertEqual(len(scores.misplaced), 1)
        verdicts = Verdicts()
        scores.judge(verdicts, bar=False)
        self.assertTrue(verdicts.missed())
        verdicts = Verdicts()
        scored().judge(verdicts, bar=False)
        self.assertFalse(verdicts.missed())

    def test_a_file_of_which_nothing_is_said_is_missed(self):
        scores = scoring.Scores()
        scores.add(entry(), None)
        self.assertEqual(scores.kinds["medication"]["all"].recall(), 0)
        verdicts = Verdicts()
        scores.judge(verdicts)
        self.assertTrue(verdicts.missed())

    def test_the_text_of_a_page_follows_from_its_words(self):
        words = [("a", 0, 0), ("b", 0, 0), ("c", 1, 0), ("d", 2, 1)]
        page = {"words": [{"text": text, "line": line, "block": block} for text, line, block in words]}
        self.assertEqual(scoring.page_text(page), "a b\nc\n\nd")


class TestIndependence(unittest.TestCase):
    def test_generator_and_extractor_share_no_file(self):
        samples = {path.read_bytes() for path in (ROOT / "src/samples").rglob("*") if path.is_file() and path.name not in ("CMakeLists.txt", "README.md")}
        for path in (ROOT / "src/extract").rglob("*"):
            if not path.is_file():
                continue
            self.assertNotIn(path.read_bytes(), samples)
            if path.name == "CMakeLists.txt" or path.suffix in (".h", ".cpp"):
                self.assertNotIn("samples/", path.read_text().replace("millrace-samples", ""), path)
        for path in (ROOT / "src/samples").rglob("*"):
            if path.suffix in (".h", ".cpp") or path.name == "CMakeLists.txt":
                self.assertNotIn("extract/", path.read_text(), path)


if __name__ == "__main__":
    unittest.main()
