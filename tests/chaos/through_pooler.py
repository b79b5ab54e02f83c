#!/usr/bin/env python3
"""Producers and a worker through a real PgBouncer in transaction mode: nothing may need the state of a session.

Debian's pgbouncer (1.18) does not know protocol-level prepared statements, so the fall-back is what runs here.
"""
import argparse
import json
import os
import pwd
import shutil
import subprocess
import time
import urllib.parse

from chaos_support import Run, Verdict
from kill_workers import drain, make_jobs, prepare


def start_pooler(run):
    """PgBouncer refuses to run as root; the private cluster lets the user it runs as in by peer."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(run.url).query)
    home = run.dir / "pooler"
    home.mkdir()
    (home / "pgbouncer.ini").write_text(f"""
[databases]
millrace = host={query['host'][0]} port={query.get('port', ['5432'])[0]} dbname=millrace user=millrace pool_size=6
[pgbouncer]
listen_addr =
unix_socket_dir = {home}
listen_port = 6543
auth_type = any
pool_mode = transaction
max_client_conn = 200
logfile = {home}/pgbouncer.log
pidfile = {home}/pgbouncer.pid
""")
    command = [shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", str(home / "pgbouncer.ini")]
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chmod(run.dir, 0o755)
        shutil.chown(home, user.pw_uid, user.pw_gid)
        for file in home.iterdir():
            shutil.chown(file, user.pw_uid, user.pw_gid)
        command = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"] + command
    run.start(*command)
    url = f"postgresql://millrace@/millrace?host={urllib.parse.quote(str(home), safe='')}&port=6543"
    deadline = time.monotonic() + 20
    while subprocess.run(["psql", "-XqAt", "-d", url, "-c", "select 1"], capture_output=True).returncode != 0:
        if time.monotonic() > deadline:
            raise SystemExit("pgbouncer did not start: " + (home / "pgbouncer.log").read_text())
        time.sleep(0.1)
    return url


def channels_on_server_connections(run):
    """Holds several server connections at once and asks each whether somebody left a LISTEN on it."""
    ask = "select count(*) from pg_listening_channels(), pg_sleep(0.3)"
    asked = [subprocess.Popen(["psql", "-XqAt", "-d", run.url, "-c", ask], stdout=subprocess.PIPE, text=True) for _ in range(12)]
    return [int(p.communicate()[0].split()[0]) for p in asked]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    verdict = Verdict()
    with Run(options.build, options.seed) as run:
        prepare(run)
        direct, pooled = run.url, start_pooler(run)
        run.url = pooled
        verdict.check("pooler", run.sql("show server_version") != "", "transaction mode")
        for _ in range(2):
            run.start(run.build / "chaos_worker", run.url, 16, 5000)
        jobs = make_jobs(run, 0, 400)
        for low in range(0, len(jobs), 40):
            text = json.dumps(jobs[low:low + 40]).replace("'", "''")
            run.sql(f"begin; set local millrace.tenant_id = '11111111-1111-1111-1111-111111111111'; select count(*) from millrace.enqueue_jobs('{text}'); commit")
        seconds, drained = drain(run)
        listening = channels_on_server_connections(run)
        verdict.check("no session state is left on server connections", sum(listening) == 0, f"{len(listening)} asked, {sum(listening)} channels")
        verdict.check("all jobs ended through the pooler", drained, "%.1f s" % seconds)
        verdict.check("tenant of a transaction does not stick to a pooled connection",
                      run.number("select count(distinct tenant_id) from millrace.job_fact") == 1
                      and run.sql("select millrace.current_tenant()") == "00000000-0000-0000-0000-000000000000", "none left over")
        verdict.check("no effect twice", run.number("select count(*) from (select from public.ledger group by job_id having count(*) > 1) t") == 0,
                      run.number("select count(*) from public.ledger"))
        wrong = run.number("select count(*) from millrace.job_place h join millrace.job_fact f using (job_id)"
                           " where h.status <> case when f.payload ->> 'kind' = 'permanent' then 'failed' else 'completed' end")
        verdict.check("every job ended as it should", wrong == 0, f"{wrong} wrong")
        run.url = direct
    verdict.finish()


if __name__ == "__main__":
    main()
