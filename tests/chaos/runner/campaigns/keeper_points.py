"""The crash points of the keeper's duties: see points.py."""
from .points import COUNTS, attack

__all__ = ["COUNTS", "run"]


def run(stage):
    return attack(stage, keepers=False)
