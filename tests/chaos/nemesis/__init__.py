"""The nemesis: environments that break on command, for the chaos runs.

A `World` (world.py) is one run: a directory, a history, processes that end with it. Environments are made in it, each with start() and
stop() and methods that inject and heal; everything they do is written into the history as {"op": "fault", ...}.

    with World(build="build/release") as world:
        database = Postgres(world).start()                       # postgres.py: crash, stop, restart
        gate = Gate(world, database.socket_path).start()         # gate.py: stall, cut, half-open, reset, delay, lost commits
        worker = world.processes.start("worker-1", [...])        # processes.py: kill, stop, zombie
        gate.cut_commit("after", match="settle_jobs")
        gate.wait_for_commit_cuts(1)

Others: replication.py (fail-over), pooler.py (PgBouncer), disk.py (full volume), clock.py (application clocks), http_ledger.py (effects
outside the database). Self-tests: `python3 -m unittest discover -s tests/chaos/nemesis -t tests/chaos`.
"""
