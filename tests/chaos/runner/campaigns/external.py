"""Campaigns that are programs of their own: they judge themselves, and their exit code and closing lines count."""
import pathlib
import subprocess
import sys

from proof.verdict import Verdict

FOLDER = pathlib.Path(__file__).resolve().parents[2]


class External:
    def __init__(self, promise, what, counts, command, alone=False):
        self.promise, self.what, self.COUNTS, self._command, self.ALONE = promise, what, counts, command, alone

    def run(self, stage):
        stage.directory.mkdir(parents=True, exist_ok=True)
        log = stage.directory / "output.txt"
        argv = [str(word) for word in self._command(stage)]
        lines = 0
        with open(log, "w") as file, subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=FOLDER) as process:
            for line in process.stdout:
                file.write(line)
                lines += 1
                stage.progress(lines, lines + 1, line.strip()[:80])
        last = [line.strip() for line in log.read_text().splitlines() if line.strip()][-4:]
        verdict = Verdict()
        verdict.check(self.promise, self.what, process.returncode == 0, "; ".join(last))
        (stage.directory / "report.html").write_text("<!doctype html><meta charset='utf-8'><pre>" + log.read_text().replace("<", "&lt;") + "</pre>")
        return verdict


def script(name):
    return lambda stage: [sys.executable, FOLDER / name, "--build", stage.options.build, "--profile", "short" if stage.options.profile == "short" else "long",
                          "--seed", stage.options.seed]


def simulation(stage):
    return [stage.options.build / "millrace_sim", "--seeds", stage.counts["seeds"], "--first", stage.options.seed, "--jobs", 2]


limits = External("P7, T15", "no window above its limit, no slot leaked, while clients are killed", {"short": {}, "long": {"clients": 64}, "release": {"clients": 64}},
                  script("hammer_limits.py"), alone=True)
kills = External("P1-P5", "16 processes of 64 slots, lease 5 s, 60 kills", {"short": None, "long": None, "release": {"kills": 60}}, script("kill_workers.py"), alone=True)
suite = External("T14", "the suite through PgBouncer", {"short": None, "long": {}, "release": {}},
                 lambda stage: [sys.executable, FOLDER / "suite_through_pooler.py", "--build", stage.options.build])
sim = External("T7", "the scheduling core in simulation", {"short": None, "long": {"seeds": 1_000_000}, "release": {"seeds": 10_000_000}}, simulation)
