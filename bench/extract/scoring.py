"""What the passes said of sample documents, held against what is true of them.

A judge of its own: it knows the forms in which results are stored and the spelling of the generator's truth, and shares no code, list or table
with either. Names and words are compared by letters and figures only, without accents and case; quantities by value and UCUM code; dates and
people by how they are written. One thing that was said answers every equal thing of the truth on the same page.
"""
import collections
import pathlib
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
TERMS = ROOT / "src/extract/terms"

# The generator's spellings of units that are no UCUM codes themselves. Any other one must be among PLAIN, so that a new unit of the samples
# cannot be compared by chance.
UCUM = {"mcg": "ug", "units": "[iU]", "mIU/L": "m[iU]/L", "10^9/L": "10*9/L", "10^12/L": "10*12/L", "µg/L": "ug/L", "µmol/L": "umol/L", "°C": "Cel", "mmHg": "mm[Hg]"}
PLAIN = {"mg", "g", "mL", "%", "fL", "pg", "g/dL", "g/L", "mg/dL", "mg/L", "mmol/L", "pmol/L", "nmol/L", "umol/L", "U/L", "U/mL", "kU/L", "ng/mL", "ng/L", "pg/mL",
         "ug/L", "ug/dL", "mm/h", "/min", "kg", "s"}
# Ways to take a drug, as documents of four languages abbreviate and write them.
ROUTES = {"oral": ("oral", "orale", "po", "vo", "mouth", "peros"), "subcutaneous": ("sc", "subcut", "subkut", "souscut"), "inhaled": ("inh",)}
# Lists of the extractor that have the names of such facts.
LISTS = {"medication": ("drugs",), "dose": ("drugs",), "lab": ("analytes",), "allergy": ("allergens", "drugs"), "condition": ("conditions",), "procedure": ("procedures",)}
# The bar: recall and precision of these.
JUDGED = ("medication", "dose", "lab", "date", "allergy")
RECALL, PRECISION = 0.95, 0.97
NEW_NAMES = 0.20  # Share of names that no list has.


def plain(text):
    """Letters and figures: "HbA1c" and "HBA 1C" agree, spaces and dashes say nothing."""
    text = text.replace("œ", "oe").replace("Œ", "oe").replace("æ", "ae").replace("ø", "o")
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())


def code_of(unit):
    """The UCUM code of a unit of the truth."""
    if unit in UCUM:
        return UCUM[unit]
    if unit in PLAIN or not unit:
        return unit
    raise ValueError(f"the truth has a unit that this judge does not know: {unit}")


def number(value):
    return "-" if value is None else f"{value:.6g}"


def route_of(text):
    said = plain(text)
    for route, words in ROUTES.items():
        if said == route or any(said == word or (len(word) > 2 and word in said) for word in words):
            return route
    return said


def listed_names(kind):
    """Names in the extractor's lists for such facts, as they are compared."""
    names = set()
    for name in LISTS.get(kind, ()):
        for line in (TERMS / f"{name}.txt").read_text().splitlines():
            if not line.startswith("#"):
                names.update(plain(phrase) for phrase in line.split(","))
    return names - {""}


# -- what there is to find, and what was found: (kind, name, key, shown, page) --

Claim = collections.namedtuple("Claim", "kind name key shown page")


def flags(negated, family, historical, hypothetical):
    return "".join(letter if value else "-" for letter, value in zip("nfhy", (negated, family, historical, hypothetical)))


def truth_claims(fact):
    kind, name, page = fact["type"], plain(fact["name"]), fact["page"]
    marks = fact["assertion"]
    marked = flags(marks["negated"], marks["family"], marks["historical"], marks["hypothetical"])

    def claim(what, *key):
        return Claim(what, name, (name, *key), f"{fact['name']} | {fact['text']} {key}", page)

    if kind == "medication":
        yield claim("medication")
        yield claim("medication+assertion", marked)
        if "dose" in fact:
            yield claim("dose", number(fact["dose"]["value"]), code_of(fact["dose"]["unit"]))
        if "frequency" in fact:
            yield claim("frequency", plain(fact["frequency"]["text"]))
        if "route" in fact:
            yield claim("route", fact["route"])
    elif kind == "lab":
        result = fact.get("comparator", "") + number(fact["value"]) if "value" in fact else plain(fact["value_text"])
        yield claim("lab name")
        yield claim("lab", result, code_of(fact.get("unit", "")))
        if "low" in fact or "high" in fact:
            yield claim("range", number(fact.get("low")), number(fact.get("high")))
        if "flag" in fact:
            yield claim("flag", fact["flag"])
    elif kind == "allergy":
        yield claim("allergy", marked[0])
        if "reaction" in fact:
            yield claim("reaction", plain(fact["reaction"]))
    elif kind in ("condition", "procedure"):
        yield claim(kind)
        yield claim(kind + "+assertion", marked)
    elif kind == "vital":
        yield Claim("vital", name, number(fact["value"]) if "value" in fact else plain(fact["value_text"]), fact["text"], page)
    elif kind in ("date", "person", "identifier"):
        yield claim(kind)


def said_claims(said):
    entities = {entity["id"]: entity for entity in said["detection"]["entities"]}
    for fact in said["extraction"]["facts"]:
        yield from fact_claims(fact, entities[fact["evidence"][0]])
    for entity in entities.values():
        kind = entity["category"].lower()
        if kind in ("date", "person", "identifier"):
            name = plain(entity["text"])
            yield Claim(kind, name, (name,), entity["text"], entity["page"])


def fact_claims(fact, entity):
    value, page = fact["value"], entity["page"]
    named = plain(value.get("drug") or value.get("substance") or value.get("name") or "")
    when = fact["assertion"]["temporality"]
    marked = flags(fact["assertion"]["polarity"] == "negated", fact["subject"] == "family", when == "historical", when in ("hypothetical", "future"))

    def claim(what, *key):
        return Claim(what, named, (named, *key), f"{value} {key}", page)

    if fact["type"] == "MedicationStatement":
        yield claim("medication")
        yield claim("medication+assertion", marked)
        if value["dose"]:
            yield claim("dose", number(value["dose"].get("value")), value["dose"].get("unit") or "")
        if value["frequency"]:
            yield claim("frequency", plain(value["frequency"]))
        if value["route"]:
            yield claim("route", route_of(value["route"]))
    elif fact["type"] == "Observation":
        measured = value["value"] or {}
        result = (value["comparator"] or "") + number(measured["value"]) if measured.get("value") is not None else plain(value["text"] or "")
        if entity["category"] == "VITAL_SIGN":
            yield Claim("vital", named, result.removesuffix("mmhg"), str(value), page)
            return
        yield claim("lab name")
        yield claim("lab", result, measured.get("unit") or "")
        if value["range"]:
            yield claim("range", number(value["range"].get("low")), number(value["range"].get("high")))
        if value["flag"]:
            yield claim("flag", value["flag"])
    elif fact["type"] == "AllergyIntolerance":
        yield claim("allergy", marked[0])
        if value["reaction"]:
            yield claim("reaction", plain(value["reaction"]))
    elif fact["type"] in ("Condition", "Procedure"):
        yield claim(fact["type"].lower())
        yield claim(fact["type"].lower() + "+assertion", marked)


# -- whether entities stand where they say --

def page_text(page):
    """The text of a spatial/1 page, by the rule of docs/spatial-map.md."""
    out, line, block = [], 0, 0
    for word in page["words"]:
        if out:
            out.append("\n\n" if word["block"] != block else "\n" if word["line"] != line else " ")
        out.append(word["text"])
        line, block = word["line"], word["block"]
    return "".join(out)


def misplaced(said):
    """Entities whose offsets do not give their text, and how many there are in all."""
    texts = {page["page"]: page_text(page) for page in said["pages"]}
    entities = said["detection"]["entities"]
    wrong = []
    for entity in entities:
        begin, end = entity["char"] if len(entity["char"]) == 2 else (0, 0)
        if not entity["text"] or texts.get(entity["page"], "")[begin:end] != entity["text"]:
            wrong.append(f"{said['file']} p{entity['page']}: {entity['char']} is not {entity['text']!r}")
    return wrong, len(entities)


# -- the scores --

class Part:
    """Counts of one kind of claim, or of those of it whose names are in lists, or in none."""

    def __init__(self):
        self.truth = self.found = self.said = self.right = 0

    @staticmethod
    def share(part, whole):
        return part / whole if whole else float("nan")

    def recall(self):
        return self.share(self.found, self.truth)

    def precision(self):
        return self.share(self.right, self.said)


class Scores:
    def __init__(self):
        self.kinds = collections.defaultdict(lambda: {"all": Part(), "listed": Part(), "new": Part()})
        self.missed, self.wrong, self.misplaced, self.rejected = [], [], [], []
        self.entities = self.names = self.new_names = self.pages = 0
        self.false_new = set()  # Names that the generator calls new, and a list has them.
        self.ms = 0.0
        self.lists = {}

    def is_listed(self, kind, name):
        kind = {"medication+assertion": "medication", "frequency": "medication", "route": "medication", "lab name": "lab", "range": "lab", "flag": "lab",
                "reaction": "allergy", "condition+assertion": "condition", "procedure+assertion": "procedure"}.get(kind, kind)
        if kind not in self.lists:
            self.lists[kind] = listed_names(kind)
        return name in self.lists[kind]

    def parts(self, claim):
        parts = self.kinds[claim.kind]
        if claim.kind in ("date", "person", "identifier", "vital"):
            return [parts["all"]]
        return [parts["all"], parts["listed" if self.is_listed(claim.kind, claim.name) else "new"]]

    def add(self, entry, said):
        """One file of the truth, and what was said of it (None: nothing)."""
        name = entry["file"]
        truths = [claim for fact in entry["facts"] for claim in truth_claims(fact)]
        claims = list(said_claims(said)) if said else []
        known = {(claim.kind, claim.page, claim.key) for claim in truths}
        claimed = {(claim.kind, claim.page, claim.key) for claim in claims}
        for claim in truths:
            found = (claim.kind, claim.page, claim.key) in claimed
            for part in self.parts(claim):
                part.truth += 1
                part.found += found
            if not found:
                self.missed.append((claim.kind, f"missed {name} p{claim.page}: {claim.shown}"))
        for claim in claims:
            right = (claim.kind, claim.page, claim.key) in known
            for part in self.parts(claim):
                part.said += 1
                part.right += right
            if not right:
                self.wrong.append((claim.kind, f"wrong  {name} p{claim.page}: {claim.shown}"))
        for fact in entry["facts"]:
            if fact["type"] not in ("medication", "lab", "allergy", "condition") or fact["assertion"]["negated"] and fact["type"] == "allergy":
                continue
            listed = self.is_listed(fact["type"], plain(fact["name"]))
            self.names += 1
            self.new_names += not listed
            if listed and fact["novel"]:
                self.false_new.add(fact["name"])
        if said:
            wrong, count = misplaced(said)
            self.misplaced += wrong
            self.entities += count
            self.rejected += [f"{name} {line}" for line in said["rejected"]]
            self.pages += len(said["pages"])
            self.ms += said["ms"]

    def table(self):
        yield f"{'kind':22} {'truth':>6} {'said':>6} {'recall':>7} {'prec.':>7}   {'in lists: truth':>15} {'recall':>7} {'prec.':>7}   {'in none: truth':>14} {'recall':>7} {'prec.':>7}"
        for kind in sorted(self.kinds):
            every, listed, new = (self.kinds[kind][part] for part in ("all", "listed", "new"))
            row = f"{kind:22} {every.truth:6} {every.said:6} {every.recall():7.3f} {every.precision():7.3f}"
            if listed.truth or new.truth:
                row += (f"   {listed.truth:15} {listed.recall():7.3f} {listed.precision():7.3f}   {new.truth:14} {new.recall():7.3f} {new.precision():7.3f}")
            yield row
        yield f"{self.pages} pages, {self.ms / max(1, self.pages):.3f} ms a page"

    def judge(self, verdicts, prefix="", bar=True):
        """The goals of extraction; without `bar` the figures only, but for the place of entities, which no reading excuses."""
        for kind in JUDGED:
            part = self.kinds[kind]["all"]
            for what, figure, goal in (("recall", part.recall(), RECALL), ("precision", part.precision(), PRECISION)):
                if bar:
                    verdicts.at_least(f"{prefix}{kind}, {what}", figure, goal)
                else:
                    verdicts.told(f"{prefix}{kind}, {what}", figure)
        in_place = (self.entities - len(self.misplaced)) / self.entities if self.entities else float("nan")
        verdicts.at_least(f"{prefix}entities whose offsets give their text", in_place, 1.0, form=".4f")
        verdicts.at_most(f"{prefix}rejected by the validators", len(self.rejected), 0, form=".0f")
        if bar:
            verdicts.at_least(f"{prefix}names that are in no list", Part.share(self.new_names, self.names), NEW_NAMES)
            verdicts.at_most(f"{prefix}names called new that are in a list", len(self.false_new), 0, form=".0f")
