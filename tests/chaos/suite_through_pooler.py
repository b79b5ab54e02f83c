#!/usr/bin/env python3
"""The suite once more with PgBouncer in transaction mode between the product and the database.

Every connection of workers, keepers, stores and commands goes through the pooler; the tests' own looks into the database do not. Left out are
programs that test what a pooler hides on purpose (one connection's own state, hosts that do not answer, the private cluster) and
those that only speak SQL in sessions of their own: there is nothing of the product between them and the server.
"""
import argparse
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Programs, and what is left out of them: LISTEN reaches nobody through such a pooler, and it knows no role that was made later.
PROGRAMS = {"worker_pg_test": "WorkerPg.ANotificationReplacesPolling", "keeper_duties_pg_test": "", "cli_pg_test": "",
            "bad_input_pg_test": "BadDataDirectory.*:BadInput.RoleWithoutPermission", "model_pg_test": "", "failing_sql_pg_test": ""}


def server_socket(build):
    """The test server is shared: it runs until the parent that asked for it says stop."""
    subprocess.run([build / "millrace_testpg", "start"], check=True)
    folders = sorted(pathlib.Path(os.environ.get("TMPDIR") or "/tmp").glob(f"millrace-testpg-{os.geteuid()}-*/run/.s.PGSQL.5432"), key=lambda p: p.stat().st_mtime)
    return folders[-1].parent


def start_pooler(home, socket):
    psql = ["psql", "-XqAt", "-h", str(socket), "-U", "postgres", "-d", "postgres"]
    roles = subprocess.run([*psql, "-c", "select rolname from pg_roles where rolcanlogin"], check=True, capture_output=True, text=True).stdout.split()
    (home / "users.txt").write_text("".join(f'"{role}" ""\n' for role in roles))
    (home / "pgbouncer.ini").write_text(f"""
[databases]
* = host={socket} port=5432
[pgbouncer]
listen_addr =
unix_socket_dir = {home}
listen_port = 6543
auth_type = trust
admin_users = postgres
auth_file = {home}/users.txt
pool_mode = transaction
default_pool_size = 6
server_idle_timeout = 2
autodb_idle_timeout = 3600
max_client_conn = 500
logfile = {home}/pgbouncer.log
""")
    os.chmod(home, 0o777)
    command = [shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", str(home / "pgbouncer.ini")]
    options = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    deadline = time.monotonic() + 20
    while subprocess.run(["psql", "-XqAt", "-h", home, "-p", "6543", "-U", "postgres", "-d", "postgres", "-c", "select 1"], capture_output=True).returncode != 0:
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit("pgbouncer did not start: " + (home / "pgbouncer.log").read_text())
        time.sleep(0.05)
    return process


def transactions(home):
    """How many the pooler has served: proof that the tests went through it."""
    shown = subprocess.run(["psql", "-XqAt", "-h", home, "-p", "6543", "-U", "postgres", "-d", "pgbouncer", "-c", "show stats_totals"], capture_output=True, text=True).stdout
    return sum(int(line.split("|")[1]) for line in shown.splitlines() if "|" in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    home = pathlib.Path(tempfile.mkdtemp(prefix="millrace-pooler-"))
    failed, tests, served = [], 0, 0
    pooler = None
    try:
        pooler = start_pooler(home, server_socket(build))
        for name, left_out in PROGRAMS.items():
            done = subprocess.run([build / name, f"--gtest_filter=-{left_out}"], env=os.environ | {"MILLRACE_TEST_POOLER": str(home)},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            ran = re.search(r"^\[=+\] (\d+) tests? from .* ran\.", done.stdout, re.M)
            tests += int(ran[1]) if ran else 0
            before, served = served, transactions(home)
            if served == before:
                failed.append(f"{name}: none of it went through the pooler")
            print(f"{'ok  ' if done.returncode == 0 else 'FAIL'} {name}: {ran[1] if ran else 'no'} tests, {served - before} transactions", flush=True)
            if done.returncode != 0:
                failed += re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", done.stdout, re.M) or [name]
                print(done.stdout[-6000:])
    finally:
        if pooler is not None:
            pooler.kill()
            pooler.wait()
        subprocess.run([build / "millrace_testpg", "stop"])
        shutil.rmtree(home, ignore_errors=True)
    print(f"{tests} tests through the pooler, {len(set(failed))} failed {' '.join(sorted(set(failed)))}")
    return 1 if failed else 0


sys.exit(main())
