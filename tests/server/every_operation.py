"""Every operation of the server's document has succeeded in a test of the server, where each answer was judged as it came.

The tests leave a file for each operation and status they heard: <answers>/<test program>/<operation>.<status>. Files older than
the programs that wrote them are of an earlier build, and count for nothing.
"""

import argparse
import json
import pathlib
import subprocess

# Operations that no test of the server can make succeed, and why.
EXCEPTIONS = {
    "rest.call_reading": "a GET cannot write, and every function that is offered writes",
}


def heard(answers, millrace):
    """{operation: {status: [programs]}}"""
    found = {}
    for mark in answers.glob("*/*"):
        program = millrace.parent / mark.parent.name
        made = [file.stat().st_mtime for file in (millrace, program) if file.exists()]
        if len(made) < 2 or mark.stat().st_mtime < max(made):
            continue
        operation, status = mark.name.rsplit(".", 1)
        found.setdefault(operation, {}).setdefault(int(status), []).append(program.name)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True, type=pathlib.Path)
    parser.add_argument("--answers", required=True, type=pathlib.Path)
    options = parser.parse_args()
    printed = subprocess.run([options.millrace, "openapi"], capture_output=True, text=True, check=True, timeout=60).stdout
    operations = {one["operationId"] for methods in json.loads(printed)["paths"].values() for one in methods.values()}
    found = heard(options.answers, options.millrace.resolve())
    succeeded = {operation for operation, statuses in found.items() if any(status < 400 for status in statuses)}
    for operation in sorted(operations):
        statuses = found.get(operation, {})
        print(f"{operation}: " + (", ".join(f"{status} by {len(set(programs))}" for status, programs in sorted(statuses.items())) or "nothing"))
    wrong = [f"{operation} has never succeeded" for operation in sorted(operations - succeeded - set(EXCEPTIONS))]
    wrong += [f"{operation} is an exception, but succeeds" for operation in sorted(succeeded & set(EXCEPTIONS))]
    wrong += [f"{operation} is an exception, but no operation" for operation in sorted(set(EXCEPTIONS) - operations)]
    print(f"\n{len(succeeded & operations)} of {len(operations)} operations succeeded")
    if wrong:
        raise SystemExit("\n".join(wrong))


main()
