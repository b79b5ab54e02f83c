"""The arithmetic of the benchmark: medians, percentiles, verdicts, the page, and resuming. Nothing is measured here."""

import copy
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from harness import figures, goals, page  # noqa: E402
from harness.peers import best_of  # noqa: E402
from harness.state import State  # noqa: E402

COST = {"wal_bytes": 500, "commits": 0.01, "rows_written": 3, "rows_dead": 1, "server_cpu_us": 5, "client_cpu_us": 2, "cores_used": 1.9}


def case(name, median, **more):
    return {"case": name, "unit": "jobs/s", "median": median, "min": median * 0.9, "max": median * 1.1, "samples": [median], **more}


def cases(*all_cases):
    return {one["case"]: one for one in all_cases}


def peer(median):
    return figures.summary([median * 0.9, median, median * 1.1])


def times(p50, p95, p99):
    return {"count": 100, "p50": p50, "p95": p95, "p99": p99, "p99.9": p99 * 2}


def records():
    """A run in which every goal is reached."""
    held = dict(seconds=60, series=[[300_000] * 60], first_10s=[1], last_10s=[1], last_30s=[1], per_job=COST)
    return {
        "probe": {"configurations": {"graphile-worker": {"best": {"processes": 2}, "probed": []}}},
        "enqueue": {
            "millrace": cases(
                case("single, 1 client", 5000, per_job=COST),
                case("single, 8 clients", 20_000, per_job=COST),
                case("array of 1000, 4 clients", 220_000, per_job=COST),
                case("COPY of 10000, 2 clients", 330_000, per_job=COST),
                case("COPY of 10000, 1 client", 130_000, per_job=COST),
            ),
            "peers": {
                "graphile-worker|bulk, 4 clients, 1000 a call": peer(100_000),
                "graphile-worker|bulk, 1 clients, 1000 a call": peer(60_000),
                "pgmq|single, 1": peer(2500),
                "pgmq|single, 8": peer(8000),
            },
        },
        "coalesced": {"millrace": cases(case("joined calls, 64 threads", 60_000))},
        "drain": {
            "millrace": cases(case("2 processes", 400_000, processes=2, per_job=COST), case("64 processes", 300_000, processes=64)),
            "peers": {"graphile-worker": peer(80_000), "pgmq": peer(125_000)},
        },
        "sustained": {
            "millrace": cases(
                case("control", 300_000, **held), case("snapshot held", 290_000, **held), case("held / control, last 30 s", 0.95)
            ),
            "graphile-worker": {"series": [[30_000] * 60]},
            "seconds": 60,
        },
        "latency": {
            "millrace": cases(case("from commit to handler", 0.3, ms=times(0.3, 0.5, 1))),
            "peers": {"graphile-worker": times(0.5, 0.9, 2.5)},
        },
        "depth": {
            "millrace": cases(
                case("backlog 1 000", 100, backlog=1000),
                case("backlog 1 000 000", 99, backlog=1_000_000),
                case("x", 91, backlog=10_000_000),
            )
        },
        "limits": {"millrace": cases(case("no limit", 100), case("provider limit", 97))},
        "keys": {"millrace": cases(case("no key", 100), case("1000 keys", 90))},
        "idle": {"millrace": cases(case("cpu", 0.3), case("transactions", 1.5), case("memory", 20), case("server", 0.2))},
        "lists": {"millrace": cases(case("job list", 2, ms=times(2, 4, 9), finished_jobs=10_000_000))},
        "retries": {"millrace": cases(case("none fails", 100), case("20 % fail once", 70))},
        "handlers": {"millrace": cases(case("1 ms", 150, possible=200), case("50 ms", 190, possible=200))},
        "http": {
            "millrace": cases(
                case("GET the status of a job, 64 connections", 30_000, ms=times(1, 2, 3), connections=64, per_job=COST),
                case("GET the status of a job, 256 connections", 40_000, ms=times(1, 2, 3), connections=256, per_job=COST),
                case("POST a job, 64 connections", 20_000, ms=times(2, 3, 4), connections=64, per_job=COST),
            ),
            "peers": {
                "fastify|status|own|64": peer(10_000),
                "fastify|status|own|256": peer(9000),
                "fastify|status|millrace|64": peer(8000),
                "fastapi|status|own|64": peer(5000),
                "fastify|enqueue|own|64": peer(4000),
                "fastapi|enqueue|own|64": peer(3000),
            },
            "times": {"fastify|status|own|64": times(4, 5, 6), "fastapi|status|own|64": times(8, 9, 10)},
            "missing": {},
        },
        "uploads": {
            "millrace": cases(
                case("1000 of 1 MB at once", 150, ms=times(900, 1500, 1600), accepted=1000),
                case("1000 of 1 MB: most memory of the server", 88),
                case("1000 of 1 MB: above an idle one", 50),
                case("1000 of 1 MB: refused or lost", 0),
                case("1 of 2000 MB at once", 200, ms=times(9000, 9000, 9000), accepted=1),
                case("1 of 2000 MB: most memory of the server", 40),
                case("1 of 2000 MB: above an idle one", 1.4),
                case("1 of 2000 MB: refused or lost", 0),
            )
        },
        "streams": {
            "millrace": cases(
                case("event to the last of 10000 streams, p99", 101, streams=10_000),
                case("event to each of them, p99", 90),
                case("memory of the server with them", 167, empty_mb=30),
                case("memory of one of them", 14),
                case("transactions while all listen", 42, without_streams=1.2),
            )
        },
    }


class Figures(unittest.TestCase):
    def test_summary_of_samples(self):
        self.assertEqual(figures.summary([3, 1, 2]), {"median": 2, "min": 1, "max": 3, "samples": [3, 1, 2]})
        self.assertIsNone(figures.summary([]))

    def test_percentiles_by_nearest_rank(self):
        values = list(range(1, 101))
        self.assertEqual(figures.percentiles(values), {"p50": 50, "p95": 95, "p99": 99, "p99.9": 100})
        self.assertEqual(figures.percentile([7], 0.5), 7)

    def test_runs_are_joined_case_by_case(self):
        runs = [{"results": [case("a", value, per_job={"wal_bytes": value})]} for value in (10, 30, 20)]
        merged = figures.merge(runs)["a"]
        self.assertEqual((merged["median"], merged["min"], merged["max"]), (20, 10, 30))
        self.assertEqual(merged["per_job"], {"wal_bytes": 20})

    def test_a_case_without_samples_stays_without_a_figure(self):
        merged = figures.merge([{"results": [{"case": "a", "unit": "x", "median": 0, "samples": [], "reason": "not built"}]}])
        self.assertEqual(merged["a"]["samples"], [])
        self.assertEqual(merged["a"]["reason"], "not built")

    def test_rates_of_whole_seconds(self):
        self.assertEqual(figures.per_second([(0, 0), (0.5, 50), (1.0, 100), (2.0, 400)]), [100, 300])

    def test_the_middle_series_is_a_real_one(self):
        self.assertEqual(figures.middle_series([[1, 1], [9, 9], [5, 5]]), [5, 5])


class Goals(unittest.TestCase):
    def judged(self, change=None):
        found = copy.deepcopy(records())
        if change:
            change(found)
        return goals.judge(found, {"cores": 2})

    def test_every_goal_has_a_row_and_is_reached(self):
        results = self.judged()
        for key, _, _ in goals.GOALS:
            self.assertIs(results[key]["met"], True, key)
        self.assertEqual(results["drain"]["ratio"], 5)
        self.assertEqual(results["drain"]["ratio_pgmq"], 3.2)
        self.assertEqual(results["processes"]["ratio"], 0.75)
        self.assertEqual(results["conditions"], {"cores": 2})

    def test_the_best_configuration_of_both_sides_counts(self):
        results = self.judged()
        self.assertEqual(results["enqueue_copy"]["millrace"], 330_000)
        self.assertEqual(results["enqueue_copy"]["graphile-worker"], 100_000)

    def test_a_peer_that_is_missing_leaves_the_verdict_open(self):
        results = self.judged(lambda found: found["drain"]["peers"].pop("pgmq"))
        self.assertIsNone(results["drain"]["pgmq"])
        self.assertIsNone(results["drain"]["met"])

    def test_what_fails_already_is_not_open(self):
        def change(found):
            found["drain"]["peers"] = {"graphile-worker": peer(300_000)}

        self.assertIs(self.judged(change)["drain"]["met"], False)

    def test_a_floor_is_told_apart_from_the_goal(self):
        def change(found):
            found["sustained"]["millrace"]["held / control, last 30 s"]["median"] = 0.87

        row = self.judged(change)["held_snapshot"]
        self.assertEqual((row["met"], row["floor_met"]), (False, True))

    def test_calls_that_nobody_joins_have_no_figure_but_a_reason(self):
        def change(found):
            found["coalesced"]["millrace"] = cases({"case": "x", "unit": "jobs/s", "median": 0, "samples": [], "reason": "not built"})

        row = self.judged(change)["enqueue_coalesced"]
        self.assertEqual((row["millrace"], row["met"], row["reason"]), (None, None, "not built"))

    def test_fewer_finished_jobs_than_the_goal_names_do_not_prove_it(self):
        def change(found):
            found["lists"]["millrace"]["job list"]["finished_jobs"] = 1_000_000

        self.assertIsNone(self.judged(change)["lists"]["met"])

    def test_over_http_the_faster_peer_counts_with_its_better_tables_and_connections(self):
        row = self.judged()["http_status"]
        self.assertEqual((row["ratio"], row["fastify"], row["fastapi"]), (4, 10_000, 5000))
        self.assertEqual(row["connections"], {"millrace": 256, "fastify": 64, "fastapi": 64})

        def slower(found):
            found["http"]["peers"]["fastapi|status|own|64"] = peer(20_000)

        self.assertIs(self.judged(slower)["http_status"]["met"], False)

    def test_a_peer_that_was_not_measured_could_have_been_the_faster_one(self):
        def change(found):
            del found["http"]["peers"]["fastapi|status|own|64"]
            found["http"]["missing"] = {"fastapi": "no pip"}

        self.assertIsNone(self.judged(change)["http_status"]["met"])

    def test_an_upload_that_was_lost_or_refused_is_a_goal_not_reached(self):
        for name, row in (("1000 of 1 MB: refused or lost", "uploads_many"), ("1 of 2000 MB: refused or lost", "uploads_large")):

            def change(found):
                found["uploads"]["millrace"][name]["max"] = 1

            results = self.judged(change)
            self.assertIs(results[row]["met"], False)
            self.assertEqual(results[row]["refused_or_lost"], 1)

    def test_memory_of_uploads_is_judged_whole_for_many_and_above_idle_for_one(self):
        row = self.judged()["uploads_many"]
        self.assertEqual((row["millrace"], row["uploads"], row["goal"]), (88, 1000, 200))
        row = self.judged()["uploads_large"]
        self.assertEqual((row["millrace"], row["megabytes"], row["goal"]), (1.4, 2000, 64))

        def change(found):
            found["uploads"]["millrace"]["1000 of 1 MB: most memory of the server"]["median"] = 201
            found["uploads"]["millrace"]["1 of 2000 MB: above an idle one"]["median"] = 65

        results = self.judged(change)
        self.assertIs(results["uploads_many"]["met"], False)
        self.assertIs(results["uploads_large"]["met"], False)

    def test_fewer_uploads_or_streams_than_the_goals_name_do_not_prove_them(self):
        def change(found):
            few = cases(*found["uploads"]["millrace"].values())
            found["uploads"]["millrace"] = {}
            for name, one in few.items():
                name = name.replace("1000 of", "20 of").replace("2000 MB", "10 MB")
                found["uploads"]["millrace"][name] = {**one, "case": name}
            found["streams"]["millrace"]["event to the last of 10000 streams, p99"]["streams"] = 50

        results = self.judged(change)
        self.assertEqual([results[row]["met"] for row in ("uploads_many", "uploads_large", "streams")], [None, None, None])

    def test_streams_that_ask_the_database_are_a_goal_not_reached(self):
        for name, value in (
            ("transactions while all listen", 10_000),
            ("memory of the server with them", 401),
            ("event to the last of 10000 streams, p99", 251),
        ):

            def change(found):
                found["streams"]["millrace"][name]["median"] = value

            self.assertIs(self.judged(change)["streams"]["met"], False, name)

    def test_rows_without_their_group_are_left_out(self):
        results = goals.judge({"idle": records()["idle"]}, {})
        self.assertEqual(set(results), {"idle", "conditions"})


class Page(unittest.TestCase):
    def test_names_every_row_with_its_verdict_and_is_valid_for_json(self):
        results = goals.judge(records(), {"cores": 2, "profile": "full"})
        text = page.render(json.loads(json.dumps(results)))
        for name in page.NAMES.values():
            self.assertIn(name, text)
        self.assertIn("(plots/throughput.svg)", text)
        self.assertIn("make bench FULL=1", text)
        self.assertIn("| 5 | reached |", text)
        self.assertIn("1,000 of 1 MB, 150 MB/s, 0 refused or lost | reached |", text)
        self.assertEqual(set(page.NAMES), set(results) - {"conditions"})

    def test_numbers_are_short(self):
        self.assertEqual(
            [page.number(value) for value in (None, 0.123456, 12.0, 5000, 353_000, 1_250_000)],
            ["–", "0.123", "12", "5,000", "353.0k", "1.25M"],
        )


class Resuming(unittest.TestCase):
    def test_finished_groups_are_kept_and_a_fresh_run_forgets_them(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "state"
            State(place, keep=True).save("drain", {"a": 1})
            self.assertEqual(State(place, keep=True).load("drain"), {"a": 1})
            self.assertIsNone(State(place, keep=True).load("other"))
            self.assertIsNone(State(place, keep=False).load("drain"))

    def test_the_fastest_configuration_is_chosen(self):
        self.assertEqual(best_of([({"a": 1}, 10), ({"a": 2}, 30), ({"a": 3}, 20)]), {"a": 2})


if __name__ == "__main__":
    unittest.main()
