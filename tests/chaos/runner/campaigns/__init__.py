"""Campaigns by name, in the order in which a run does them. Each: COUNTS by profile (None: not in it) and run(stage) -> Verdict."""
from . import clocks, db_clock, disk_full, documents, drain, external, failover, horizon, keeper_points, killer, mixed, network, one_key, overload, pg_crash, pooler, points, supervised, zombies

ALL = {
    "points": points,
    "keeper_points": keeper_points,
    "killer": killer,
    "mixed": mixed,
    "supervised": supervised,
    "zombies": zombies,
    "pg_crash": pg_crash,
    "failover": failover,
    "network": network,
    "clocks": clocks,
    "db_clock": db_clock,
    "pooler": pooler,
    "disk_full": disk_full,
    "overload": overload,
    "one_key": one_key,
    "drain": drain,
    "horizon": horizon,
    "documents": documents.killed,
    "documents_load": documents.crowd,
    "documents_provider": documents.paid,
    "limits": external.limits,
    "kills": external.kills,
    "suite": external.suite,
    "simulation": external.sim,
}
