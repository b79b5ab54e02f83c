#!/usr/bin/env python3
"""Many clients hammer one provider row while some are killed; no sliding window may hold more than the limit.

The window is 10 s. Grants are judged by the database's clock (each grant lies between two readings of it) and, independently, by the times at which
a stand-in process received the requests, with a margin of 1 s.
"""
import argparse
import os
import select
import socket
import time

from chaos_support import Run, Verdict

PROFILES = {
    "short": dict(clients=16, windows=1.3, kills=12, costs=[10]),
    "long": dict(clients=64, windows=3.2, kills=60, costs=[1, 30, 500]),
}
WINDOW = 10.0
LIMIT = 1000


def worst_window(times, length):
    """The largest sum of costs in any window of this length; times are (time, cost), sorted."""
    worst = total = low = 0
    for t, cost in times:
        total += cost
        while times[low][0] <= t - length:
            total -= times[low][1]
            low += 1
        worst = max(worst, total)
    return worst


def hammer(run, profile, cost):
    name = f"bar-{cost}"
    run.sql(f"select millrace.set_limit('stand-in', '{name}', '{{\"requests_per_minute\": 100000, \"tokens_per_minute\": {LIMIT}, \"concurrent_requests\": 64}}');"
            f" update millrace.api_rate_limits set minute_window = '10 s', hour_window = '3600 s', slot_lease = '2 s' where api_endpoint = '{name}'")
    path = str(run.dir / f"{name}.sock")
    stand_in = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    stand_in.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    stand_in.bind(path)
    os.chmod(path, 0o777)
    command = [run.build / "limit_client", run.url, path, "stand-in", name, cost]
    clients = [run.start(*command) for _ in range(profile["clients"])]
    arrivals, early, late = [], [], []
    began = time.monotonic()
    seconds = WINDOW * profile["windows"]
    kills, next_kill = 0, began + 0.5
    while time.monotonic() - began < seconds:
        if select.select([stand_in], [], [], 0.02)[0]:
            cost_text, before, after = stand_in.recv(200).decode().split()
            arrivals.append((time.monotonic(), int(cost_text)))
            early.append((float(before), int(cost_text)))
            late.append((float(after), int(cost_text)))
        if time.monotonic() >= next_kill and kills < profile["kills"]:
            victim = run.random.randrange(len(clients))
            run.kill(clients[victim])
            clients[victim] = run.start(*command)
            kills += 1
            next_kill += seconds / (profile["kills"] + 2)
    for client in clients:
        run.kill(client)
    return dict(name=name, arrivals=arrivals, early=sorted(early), late=sorted(late), kills=kills, seconds=seconds)


def judge(run, verdict, cost, seen):
    # Widening each grant to the two readings could only make a window look fuller than it was by the length of one call; the inner bound is exact.
    spread = max((b - a for (a, _), (b, _) in zip(seen["early"], seen["late"])), default=0.0)
    by_grant = worst_window(seen["late"], WINDOW - spread)
    verdict.check(f"cost {cost}: no window above {LIMIT} by grant times", by_grant <= LIMIT, f"{by_grant} ({seen['kills']} kills, {len(seen['late'])} grants)")
    by_arrival = worst_window(seen["arrivals"], WINDOW - 1.0)
    verdict.check(f"cost {cost}: no window above {LIMIT} by arrival, 1 s margin", by_arrival <= LIMIT, by_arrival)
    # The permitted rate over the whole run; the first window may be granted at once.
    possible = LIMIT * seen["seconds"] / WINDOW
    granted = sum(c for _, c in seen["late"])
    verdict.check(f"cost {cost}: at least 95 % used", granted >= 0.95 * possible, f"{granted} of {possible:.0f}")
    # The server may still work for clients that are dead: their slots count from then.
    while run.number("select count(*) from pg_stat_activity where pid <> pg_backend_pid() and query like '%api_capacity%'") > 0:
        time.sleep(0.05)
    leaked = run.sql(f"""
      select pg_sleep(2.1);
      select millrace.acquire_api_capacity('stand-in', '{seen['name']}', 1);
      select count(*) from millrace.provider_slot s join millrace.api_rate_limits p using (provider_id) where p.api_endpoint = '{seen['name']}' and s.lease_until > clock_timestamp()""")
    verdict.check(f"cost {cost}: no slot leaked after the lease", int(leaked.split()[-1]) <= 1, leaked.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--profile", choices=PROFILES, default="short")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    profile = PROFILES[options.profile]
    print(f"{profile['clients']} clients, window {WINDOW:.0f} s, limit {LIMIT}, costs {profile['costs']}", flush=True)
    verdict = Verdict()
    with Run(options.build, options.seed) as run:
        for cost in profile["costs"]:
            judge(run, verdict, cost, hammer(run, profile, cost))
    verdict.finish()


if __name__ == "__main__":
    main()
