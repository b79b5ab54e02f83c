"""Programs with a mutant inside, made from a finished build: one object is compiled from the mutated file and linked in front of
the library that holds the right one. Everything else is what the build made, so a mutant costs one compile and one link."""
import functools
import json
import pathlib
import re
import shlex
import shutil
import subprocess

from mutant import ROOT, Bad


class Build:
    def __init__(self, folder, scratch):
        self.folder = pathlib.Path(folder).resolve()
        self.scratch = pathlib.Path(scratch).resolve()

    def make(self, targets):
        """Brings the programs up to date, as a developer would."""
        done = subprocess.run(["cmake", "--build", self.folder, "--target", *sorted(targets)])
        if done.returncode != 0:
            raise Bad("the build without mutants fails")

    @functools.cached_property
    def compile_commands(self):
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        return {str(pathlib.Path(e["file"]).resolve()): e for e in entries}

    @functools.cache
    def link_command(self, target):
        listed = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], capture_output=True, text=True)
        if listed.returncode != 0 or not listed.stdout.strip():
            raise Bad(f"the build does not know {target}")
        command = listed.stdout.strip().splitlines()[-1]
        found = re.fullmatch(r": && (.*) && :", command)
        return shlex.split(found[1] if found else command)

    def programs(self, mutant, targets, folder):
        """Puts each target, with the mutant inside, into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        objects = self._objects(mutant, folder / "objects")
        for target in targets:
            words = list(self.link_command(target))
            at = words.index("-o")
            words[at + 1:at + 2] = [str(folder / target), *map(str, objects)]
            self._run(words, self.folder, "does not link")
        return folder

    def sql_folder(self, mutant):
        """A copy of sql/ with the mutant inside."""
        folder = self.scratch / mutant.label / "sql"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "sql", folder)
        for file, text in mutant.mutated().items():
            (folder.parent / file).write_text(text)
        return folder

    def _objects(self, mutant, folder):
        objects = []
        for file, text in mutant.mutated().items():
            if not file.startswith("sql/"):
                copy = folder / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text)
                objects.append(self._compile(str(ROOT / file), copy))
        if any(file.startswith("sql/") for file in mutant.mutated()):
            embedded = self.folder / "generated/sql_files.S"
            copy = folder / "sql_files.S"
            folder.mkdir(parents=True, exist_ok=True)
            copy.write_text(embedded.read_text().replace(f'"{ROOT}/sql/', f'"{self.sql_folder(mutant)}/'))
            objects.append(self._compile(str(embedded), copy))
        return objects

    def _compile(self, original, copy):
        entry = self.compile_commands.get(original)
        if entry is None:
            raise Bad(f"the build does not compile {original}")
        words = ([shutil.which("ccache")] if shutil.which("ccache") else []) + shlex.split(entry["command"])
        words[words.index("-o") + 1] = str(copy) + ".o"
        words[words.index("-c") + 1] = str(copy)
        self._run(words, entry["directory"], "does not compile")
        return pathlib.Path(str(copy) + ".o")

    def _run(self, words, folder, complaint):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Bad(f"{complaint}:\n{(done.stderr or done.stdout).strip()[:2000]}")
