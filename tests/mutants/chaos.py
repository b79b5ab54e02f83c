"""Wrong engines under faults: the campaign `mixed` runs on one, and the offline checker must find the category that the mutant names."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from mutant import ROOT, Bad

PROGRAMS = ("millrace", "chaos_worker", "chaos_producer")
SEED = 1


class Campaign:
    def __init__(self, verdict, output):
        self.counts = {} if verdict is None else {name: n for name, n in verdict["tally"].items() if name not in ("ok", "recovered")}
        self.judged = verdict is not None
        self.output = output


def run_campaign(builder, mutant=None):
    """Without a mutant: the engine as it is."""
    folder = builder.scratch / (mutant.label if mutant else "chaos/none")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs, words = builder.folder, []
    if mutant is not None:
        texts = mutant.mutated()
        functions = [text for file, text in texts.items() if file.startswith("sql/")]
        if functions:
            (folder / "functions.sql").write_text("\n".join(functions))
            words = ["--sql", folder / "functions.sql"]
        if len(functions) < len(texts):
            programs = builder.programs(mutant, ["chaos_worker"], folder / "programs")
            for name in PROGRAMS:
                if not (programs / name).exists():
                    (programs / name).symlink_to(builder.folder / name)
    argv = [sys.executable, "-m", "runner", "--build", programs, "--profile", "long", "--only", "mixed", "--seed", SEED, "--out", folder / "run", *words]
    done = subprocess.run([str(word) for word in argv], cwd=ROOT / "tests/chaos", capture_output=True, text=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    file = pathlib.Path(folder / "run/mixed/verdict.json")
    return Campaign(json.loads(file.read_text()) if file.exists() else None, done.stdout + done.stderr)


def check_healthy(builder):
    right = run_campaign(builder)
    if not right.judged or right.counts:
        return [f"the campaign finds fault with the engine as it is: {right.counts or 'no verdict'}", *right.output.splitlines()[-60:]]
    return []


def verdict(mutant, campaign):
    if not campaign.judged:
        raise Bad("the campaign came to no verdict:\n" + campaign.output[-2000:])
    return mutant.category in campaign.counts, "caught" if mutant.category in campaign.counts else "SURVIVED"
