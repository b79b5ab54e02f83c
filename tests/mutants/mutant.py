"""Mutants: small wrong versions of the engine, one file each. README.md says what a file looks like."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KINDS = ("sql", "cpp", "chaos")
HEADER = ("rule", "what", "test", "category")

# Tests that look at text or at the catalogue instead of at what the engine does: they catch nothing here.
TEXTUAL = re.compile(
    r"Schema\.(golden_|a0[1267]_|a05_|a12_|i01_|f05_|f29_|c08_|one_signature|every_registered)"
    r"|Tenancy\.(GrantsAreTheOnes|EveryFunctionFixes|EveryTenantTableForces)|Functions\.(HaveOne|RaiseRegistered)")


class Bad(Exception):
    """A mutant that cannot be used: it says why."""


class Hunk:
    def __init__(self, file, lines):
        self.file = file
        self.lines = lines
        self.old = [line[1:] for line in lines if line[0] in "- "]
        self.new = [line[1:] for line in lines if line[0] in "+ "]

    def apply(self, text):
        old = "\n" + "\n".join(self.old) + "\n"
        count = ("\n" + text).count(old)
        if count != 1:
            raise Bad(f"stale mutant: its lines occur {count} times in {self.file}")
        new = "".join("\n" + line for line in self.new) + "\n"
        return ("\n" + text).replace(old, new, 1)[1:]


class Mutant:
    def __init__(self, path):
        self.path = path
        self.kind = path.parent.name
        self.name = path.stem
        self.header = {}
        self.hunks = []
        self._read()
        self._check()

    def _read(self):
        file, block = None, []

        def end_block():
            if block:
                if file is None:
                    raise Bad("lines before the first file:")
                self.hunks.append(Hunk(file, list(block)))
                block.clear()

        for line in self.path.read_text().splitlines():
            word = re.match(r"([a-z]+): +(.+)", line)
            if not line:
                end_block()
            elif word and word[1] == "file":
                end_block()
                file = word[2]
            elif word and word[1] in HEADER and not self.hunks and not block:
                self.header[word[1]] = word[2]
            elif line[0] in "-+ ":
                block.append(line)
            else:
                raise Bad(f"not a line of a mutant: {line}")
        end_block()

    def _check(self):
        needed = {"rule", "what"} | ({"category"} if self.kind == "chaos" else {"test"})
        for word in sorted(needed - self.header.keys()):
            raise Bad(f"has no {word}:")
        if not self.hunks or any(h.old == h.new or not h.old for h in self.hunks):
            raise Bad("changes nothing, or says not what")
        self.rules = self.header["rule"].split()
        self.what = self.header["what"]
        self.category = self.header.get("category", "")
        self.program, self.test = (self.header.get("test", "").split(" ", 1) + [""])[:2]
        if self.kind != "chaos" and not self.test:
            raise Bad("test: needs a program and a name")
        if TEXTUAL.search(self.test):
            raise Bad(f"{self.test} reads text, not behaviour: name a test that sees what the engine does")
        for hunk in self.hunks:
            if self.kind == "sql" and not hunk.file.startswith("sql/"):
                raise Bad(f"{hunk.file} is not below sql/")
            if self.kind == "chaos" and not hunk.file.startswith("sql/functions/") and not hunk.file.endswith(".cpp"):
                raise Bad(f"{hunk.file}: a chaos run replaces functions of a migrated database, or objects of the worker")
            if self.kind == "cpp" and not hunk.file.endswith(".cpp"):
                raise Bad(f"{hunk.file}: one object is replaced, so only .cpp files can be changed")

    @property
    def label(self):
        return f"{self.kind}/{self.name}"

    def mutated(self):
        """{file: its text with the mutation}; Bad when the mutant is stale."""
        texts = {}
        for hunk in self.hunks:
            if hunk.file not in texts:
                path = ROOT / hunk.file
                if not path.is_file():
                    raise Bad(f"stale mutant: {hunk.file} does not exist")
                texts[hunk.file] = path.read_text()
            texts[hunk.file] = hunk.apply(texts[hunk.file])
        return texts


def load():
    """All mutants in order, and what is wrong with those that are none."""
    mutants, errors = [], []
    for path in sorted(HERE.glob("*/*.mutant")):
        try:
            mutant = Mutant(path)
            mutant.mutated()
            mutants.append(mutant)
        except Bad as bad:
            errors.append(f"{path.relative_to(ROOT)}: {bad}")
    return mutants, errors
