"""python3 -m proof check DIR | report DIR | dump DIR --url URL"""
import argparse
import sys

from .check import NotARun, check_run
from .dump import dump_database
from .options import Options
from .report import write_report
from .verdict import Verdict


def main():
    parser = argparse.ArgumentParser(prog="proof", description="Judges chaos runs from their histories and the database.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="judge a run; exit code 1 when a promise was broken")
    check.add_argument("directory")
    check.add_argument("--lease-ms", type=int)
    check.add_argument("--recovery-margin-ms", type=int)
    check.add_argument("--supervised-ms", type=int)
    check.add_argument("--recovery-by", choices=("claim", "reclaim"))
    check.add_argument("--effect-default", choices=("row", "http", "both", "none"))
    check.add_argument("--points", help="file with the fault points that must have been hit")
    check.add_argument("--sometimes", help="file with the properties that must have been seen")
    check.add_argument("--may-live", action="store_true", help="jobs may still live at the end")
    check.add_argument("--report", action="store_true", help="write report.html too")
    report = commands.add_parser("report", help="write report.html from the last check")
    report.add_argument("directory")
    dump = commands.add_parser("dump", help="write the database's side of the evidence")
    dump.add_argument("directory")
    dump.add_argument("--url", required=True)
    arguments = parser.parse_args()

    if arguments.command == "dump":
        for name, count in dump_database(arguments.url, arguments.directory).items():
            print(f"{name}: {count}")
        return 0
    if arguments.command == "report":
        print(write_report(arguments.directory, Verdict.read(arguments.directory)))
        return 0
    names = ("lease_ms", "recovery_margin_ms", "supervised_ms", "recovery_by", "effect_default", "points", "sometimes")
    overrides = {name: getattr(arguments, name) for name in names}
    overrides["expect_drained"] = False if arguments.may_live else None
    try:
        verdict = check_run(arguments.directory, Options.from_run(arguments.directory, **overrides))
    except NotARun as error:
        print(error, file=sys.stderr)
        return 2
    print(verdict.text())
    if arguments.report:
        print(write_report(arguments.directory, verdict))
    return 0 if verdict.ok else 1


sys.exit(main())
