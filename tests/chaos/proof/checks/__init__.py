"""The checks, one module per promise, in the order in which they look: what is lost is not looked at again."""
from . import audit, coverage, effects, existence, limits, outcome, recovery

ALL = (existence, outcome, effects, recovery, limits, audit, coverage)
