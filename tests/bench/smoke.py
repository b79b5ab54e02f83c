"""Three rows of the bench end to end, as small as they can be: that they run and say what they measured, not how fast."""

import argparse
import contextlib
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from harness import figures, goals  # noqa: E402


def millrace(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def expect(condition, what):
    if not condition:
        raise SystemExit(f"not true: {what}")


def ends_when_told(program, folder):
    """A soak of ten minutes that somebody ends once its workers are there: nothing of it is left."""
    ready = folder / "worker.ready.json"
    ready.unlink(missing_ok=True)
    soak = subprocess.Popen([program, "bench", "soak", "--seconds", "600", "--rate", "100", "--folder", str(folder)], stderr=subprocess.DEVNULL)
    while not ready.exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            soak.wait(0.05)
        expect(soak.poll() is None, "a soak goes on until it is told to end")
    soak.send_signal(signal.SIGTERM)
    expect(soak.wait(120) == 143, "a soak ends when it is told to")
    expect(not (folder / ".millrace/pg/postmaster.pid").exists(), "its cluster is stopped")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    options = parser.parse_args()
    common = ("--repeats", 1, "--folder", options.folder)

    drained = json.loads(millrace(options.millrace, "--json", "bench", "drain", "--jobs", 300, "--processes", 1, "--processes", 2, *common))
    expect([result["processes"] for result in drained["results"]] == [1, 2], "one case per number of processes")
    for result in drained["results"]:
        expect(result["median"] > 0 and len(result["samples"]) == 1, "one sample each")
        expect(result["per_job"]["wal_bytes"] > 0 and result["per_job"]["rows_written"] > 0, "a job is not free")
    expect(drained["conditions"]["fsync"] == "on", "durable")
    expect(drained["conditions"]["payload_bytes"] == 110, "the usual payload")

    picked = json.loads(millrace(options.millrace, "--json", "bench", "latency", "--jobs", 5, *common))
    expect(picked["results"][0]["ms"]["count"] == 5, "five pickups")

    sent = json.loads(millrace(options.millrace, "--json", "bench", "uploads", "--connections", 5, "--large-megabytes", 2, *common))
    judged = goals.judge({"uploads": {"millrace": figures.merge([sent])}}, {})
    for row, megabytes in (("uploads_many", 1), ("uploads_large", 2)):
        expect(judged[row]["refused_or_lost"] == 0, "all that was sent is there")
        expect(judged[row]["megabytes"] == megabytes and judged[row]["millrace"] is not None, "the goals know the cases by name")

    ends_when_told(options.millrace, options.folder)

    results = options.folder / "results.json"
    results.write_text(
        json.dumps({"drain": {"millrace": drained["results"][0]["median"], "unit": "jobs/s", "goal_text": "none", "met": None}})
    )
    millrace(options.millrace, "bench", "report", "--results", results, "--out", options.folder / "report.html")
    expect("<svg" in (options.folder / "report.html").read_text(), "a plot in the report")
    print("bench smoke: ok")


main()
