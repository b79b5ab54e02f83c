#!/usr/bin/env python3
"""Honest histories, also those that look odd, trigger nothing; and the checker's own machinery works."""
import collections
import json
import pathlib
import unittest

from checker_case import Case
from proof import check_run
from proof.check import NotARun
from proof.checks.recovery import percentile
from proof.history import match_answers
from proof.model import Spans
from proof.verdict import CATEGORIES, Verdict


class Clean(Case):
    def test_AQuietRunIsOk(self):
        for n in range(5):
            self.plain(f"k{n}")
        verdict = self.assert_clean()
        self.assertEqual(verdict.tally, {"ok": 5, "recovered": 0})

    def test_AnEnqueueOfUnknownFateMayHaveBeenDone(self):
        job = self.world.enqueue(self.producer, "k1", phase="unknown")
        self.world.settle(self.world.claim(self.worker, job))
        self.assertEqual(self.assert_clean().tally["recovered"], 1)

    def test_AnEnqueueOfUnknownFateMayNotHaveBeenDone(self):
        self.plain()
        self.world.enqueue(self.producer, "k2", phase="unknown", done=False)
        self.world.enqueue(self.producer, "k3", phase=None, done=False)
        self.world.enqueue(self.producer, "k4", phase="fail", done=False)
        self.assertEqual(self.assert_clean().tally["recovered"], 0)

    def test_ARepeatedEnqueueFindsItsOwnJob(self):
        first = self.world.enqueue(self.producer, "k1", phase="unknown")
        number = self.producer.call("enqueue", keys=["k1"])
        self.producer.end("enqueue", number, "ok", jobs=[{"key": "k1", "job": first, "created": False}])
        self.world.settle(self.world.claim(self.worker, first))
        self.assertEqual(self.assert_clean().tally["recovered"], 1)

    def test_ASettlementOfUnknownFateThatWasDoneIsRecovered(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), phase="unknown")
        self.assertEqual(self.assert_clean().tally["recovered"], 1)

    def test_ARepeatAfterALostAnswerIsAlreadySettled(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job)
        self.world.settle(delivery, phase="unknown")
        self.assertEqual(self.world.settle(delivery), "already_settled")
        self.assertEqual(self.assert_clean().tally["recovered"], 1)

    def test_AZombieIsRefused(self):
        job = self.world.enqueue(self.producer, "k1")
        stale = self.world.claim(self.worker, job)
        self.world.work(stale, end=False)
        self.world.fault("stop", self.worker)
        self.world.advance(1100)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.world.fault("cont", self.worker)
        self.assertEqual(self.world.settle(stale), "lease_lost")
        verdict = self.assert_clean()
        self.assertEqual(verdict.figures["stale_refused"], 1)
        self.assertEqual(verdict.recovery["stopped"]["count"], 1)

    def test_AHandBackIsDeliveredAgain(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), outcome="handback")
        self.world.settle(self.world.claim(self.other, job))
        self.assert_clean()

    def test_AClaimWhoseAnswerWasLostIsGivenBack(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job, phase="unknown")
        self.world.end_lease(self.world.jobs[job], "handback")
        self.world.record("handed_back", job)
        self.world.settle(self.world.claim(self.worker, job))
        self.assert_clean()

    def test_RetriesEndInOneOutcome(self):
        job = self.world.enqueue(self.producer, "k1")
        for outcome in ("retry", "throttled", "ok"):
            self.world.settle(self.world.claim(self.worker, job), outcome=outcome)
        self.assert_clean()

    def test_AKilledWorkersJobIsRecovered(self):
        job, _ = self.lost_lease()
        self.world.settle(self.world.claim(self.other, job))
        verdict = self.assert_clean()
        self.assertAlmostEqual(verdict.recovery["killed"]["max"], 1.2, delta=0.01)

    def test_AClaimThatDiedWithItsWorkerIsMeasuredByTheWorkersName(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job, phase=None)
        self.world.hit(self.worker, "claim.after_send")
        self.world.advance(1300)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        verdict = self.assert_clean(points=["claim.after_send"])
        self.assertEqual(verdict.recovery["killed"]["count"], 1)
        self.assertEqual(verdict.points[0]["hit"], 1)
        self.assertEqual(verdict.points[0]["recovered"], 1)

    def test_ARedrivenJobLivesTwice(self):
        job = self.world.enqueue(self.producer, "k1", effect="http")
        first = self.world.claim(self.worker, job)
        self.world.request(first, status=500)
        self.world.settle(first, outcome="permanent")
        self.world.redrive(job)
        second = self.world.claim(self.other, job)
        self.world.request(second)
        self.world.settle(second)
        self.assert_clean()

    def test_AFollowUpJobIsAskedForByItsParent(self):
        parent, _ = self.plain(follows="k1+")
        child = self.world.add_job("k1+", parent_id=parent)
        self.world.record("enqueued", child)
        self.world.settle(self.world.claim(self.worker, child))
        self.assert_clean()

    def test_ACancelledJobNeedsNoDelivery(self):
        self.world.cancel(self.world.enqueue(self.producer, "k1", expect="cancelled"))
        self.assert_clean()

    def test_RequestsMayRepeatUnderOneKey(self):
        job = self.world.enqueue(self.producer, "k1", effect="http")
        delivery = self.world.claim(self.worker, job)
        for status in (503, 200, 200):
            self.world.request(delivery, status=status)
        self.world.settle(delivery)
        self.assertEqual(self.assert_clean().figures["http_repeats"], 2)

    def test_AnswersOfClaimsMayArriveInTheWrongOrder(self):
        """The first delivery's claim is answered after the second one's, because its connection was stalled."""
        job = self.world.enqueue(self.producer, "k1")
        number = self.worker.call("claim", worker=self.worker.name, queue="chaos", limit=1)
        self.world.fault("stall", self.worker)
        self.other, hidden = self.other, self.worker
        silent = self.world.process("keeper")
        first = self.world.claim(silent, job, phase=None)
        silent.lines = silent.lines[:1]
        self.world.jobs[job]["worker"] = hidden.name
        self.world.advance(1300)
        self.world.reclaim(job)
        second = self.world.claim(self.other, job)
        self.world.advance(50)
        hidden.end("claim", number, "ok", jobs=[{"job": job, "token": first.token, "attempt": 1, "delivery": 1}])
        first.worker = hidden
        self.world.advance(50)
        self.world.settle(second)
        self.assertEqual(self.world.settle(first), "lease_lost")
        self.assert_clean()

    def test_OneCallMayCarryTwoDeliveriesOfOneJob(self):
        items = [{"job": "a", "token": "1"}, {"job": "a", "token": "2"}, {"job": "b", "token": "3"}]
        answers = [{"job": "a", "answer": "settled"}, {"job": "a", "answer": "lease_lost"}, {"job": "b", "answer": "settled"}]
        self.assertEqual(match_answers(items, answers), [None, None, "settled"])
        named = [{"job": "a", "token": "2", "answer": "settled"}, {"job": "a", "token": "1", "answer": "lease_lost"}, {"job": "b", "answer": "settled"}]
        self.assertEqual(match_answers(items, named), ["lease_lost", "settled", "settled"])

    def test_ALineTornByADyingProcessIsForgiven(self):
        job, _ = self.lost_lease()
        self.worker.lines.append('{"t":6000000000,"op":"sett')
        self.world.settle(self.world.claim(self.other, job))
        self.assertEqual(self.assert_clean().figures["torn_lines"], 1)

    def test_WhatAnAsynchronousFailoverTookBackIsReportedNotBlamed(self):
        kept, _ = self.plain("k1")
        gone, delivery = self.plain("k2")
        self.world.advance(10)
        self.world.fault("pg_crash", "a")
        lost_since = self.world.now - 30_000_000
        self.world.advance(500)
        self.world.fault("failover", "b", mode="async", lag_ms=30.0, lost_since=lost_since, old="a", new="b")
        self.world.fault("reported_loss", "b", keys=["k2"])
        self.plain("k3")
        del self.world.jobs[gone]
        self.world.audit = [a for a in self.world.audit if gone not in a["jobs"]]
        self.world.ledger = [e for e in self.world.ledger if e["job_id"] != gone]
        self.assertEqual(self.assert_clean().figures["lost_in_failover"], 1)

    def test_ACrashOfAStandbyExcusesNothing(self):
        self.world.fault("pg_crash", "standby")
        self.plain("k1")
        self.world.advance(400)
        self.plain("k2")
        self.world.advance(9000)
        self.world.fault("pg_up", "standby")
        self.plain("k3")
        self.assertEqual(self.assert_clean().figures["down_seconds"], 0)

    def test_ChildrenDieWithTheirSupervisor(self):
        boss = self.world.process("supervisor")
        self.worker = self.world.process("worker", supervisor=boss.pid)
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.kill(boss)
        self.world.advance(1200)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.assertEqual(self.assert_clean().recovery["killed"]["count"], 1)

    def test_AnOutageExcusesALateRecovery(self):
        job, _ = self.lost_lease(after_ms=100)
        self.world.jobs[job].update(place="lease", status="processing")
        self.world.attempts.pop()
        self.world.audit.pop()
        self.world.jobs[job]["token"] = json.loads(self.worker.lines[2])["jobs"][0]["token"]
        self.world.fault("pg_crash")
        self.world.advance(8000)
        self.world.fault("pg_up")
        self.world.advance(900)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        verdict = self.assert_clean()
        self.assertEqual(verdict.recovery["killed"]["excused"], 1)


class Machinery(Case):
    def test_NothingIsNotARun(self):
        with self.assertRaises(NotARun):
            check_run(self.folder.name)

    def test_ADumpIsNeeded(self):
        self.plain()
        self.world.write(self.folder.name)
        (pathlib.Path(self.folder.name) / "jobs.jsonl").unlink()
        with self.assertRaises(NotARun):
            check_run(self.folder.name)

    def test_StoriesAreShortAndKeepBothEnds(self):
        job = self.world.enqueue(self.producer, "k1")
        for _ in range(40):
            self.world.settle(self.world.claim(self.worker, job), outcome="retry")
        self.world.settle(self.world.claim(self.worker, job), effect=False)
        verdict = self.assert_only("lost")
        self.assertEqual(len(verdict.violations[0].story), 30)
        self.assert_tells(verdict, "enqueue: asks for k1", "lines left out", "audit 83: completed", "is completed")

    def test_AllAreCountedAndTheFirstAreTold(self):
        for n in range(12):
            self.plain(f"k{n}")
        self.world.ledger.clear()
        verdict = self.assert_only("lost", count=12, stories_max=5)
        self.assertEqual(len(verdict.violations), 5)
        self.assertIn("7 more", verdict.text())

    def test_AVerdictSurvivesItsFile(self):
        self.plain()
        self.world.ledger.clear()
        verdict = self.assert_only("lost")
        self.assertEqual(Verdict.read(self.folder.name).as_json(), verdict.as_json())

    def test_PercentilesAreValuesThatOccurred(self):
        values = list(range(1, 101))
        self.assertEqual([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)], [50, 99, 7])

    def test_SpansMergeAndOverlap(self):
        spans = Spans([(10, 20), (15, 30), (50, 60)])
        self.assertEqual(spans.overlap(0, 55), 25)
        self.assertEqual([t in spans for t in (9, 10, 30, 31, 55)], [False, True, True, False, True])

    def test_EveryCategoryHasATest(self):
        source = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_checker*.py"))
        counted = collections.Counter({name: source.count(f'assert_only("{name}"') for name in CATEGORIES})
        self.assertEqual([name for name in CATEGORIES if not counted[name]], [])


if __name__ == "__main__":
    unittest.main()
