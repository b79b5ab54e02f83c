"""The offline proof of a chaos run: reads what every process wrote down and what the database says afterwards,
judges both against Millrace's promises, and draws the report.

    verdict = check_run(directory, Options(lease_ms=1000))
    write_report(directory, verdict)
"""
from .check import check_run
from .options import Options
from .report import write_report
from .verdict import Verdict

__all__ = ["Options", "Verdict", "check_run", "write_report"]
