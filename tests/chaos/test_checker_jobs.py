#!/usr/bin/env python3
"""What can become of a job that must not: every category is triggered by a history that has exactly that fault."""
import json
import unittest

from checker_case import Case


class Lost(Case):
    def test_AnAcknowledgedJobIsGone(self):
        job = self.world.enqueue(self.producer, "k1")
        self.plain("k2")
        del self.world.jobs[job]
        self.world.audit.pop(0)
        self.assert_tells(self.assert_only("lost"), "enqueue: asks for k1", "enqueue: answered k1")

    def test_ALossInAFailoverIsNotReported(self):
        job = self.world.enqueue(self.producer, "k1")
        self.plain("k2")
        self.world.fault("failover", "b", mode="async", lag_ms=100)
        self.world.fault("reported_loss", "b", keys=["k3"])
        del self.world.jobs[job]
        self.world.audit.pop(0)
        self.assert_only("lost")

    def test_AJobLiesNowhere(self):
        job, _ = self.plain()
        self.world.jobs[job].update(place=None, status=None)
        self.assert_only("lost")

    def test_AnAcknowledgedSettlementIsGone(self):
        job, delivery = self.plain(expect="any")
        self.world.jobs[job].update(place="ready", status="pending", token=None)
        self.world.audit.pop()
        self.world.ledger.clear()
        self.assert_tells(self.assert_only("lost"), "settle: asks for ok", "settle: answered settled", "is pending")

    def test_AnAcknowledgedSuccessIsAFailureInTheDatabase(self):
        job, _ = self.plain(expect="any")
        self.world.jobs[job].update(status="failed", reason="permanent")
        self.assert_only("lost")

    def test_AlreadySettledIsNotTrue(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job)
        number = self.worker.call("settle", worker=self.worker.name, jobs=[{"job": job, "token": delivery.token, "outcome": "ok"}])
        self.worker.end("settle", number, "ok", answers=[{"job": job, "answer": "already_settled"}])
        self.assert_only("lost")

    def test_AnEffectIsGone(self):
        self.plain()
        self.world.ledger.clear()
        self.assert_only("lost")

    def test_AFollowUpIsMissing(self):
        self.plain(follows="k1+")
        self.assert_only("lost")

    def test_ARequestNeverArrived(self):
        job = self.world.enqueue(self.producer, "k1", effect="http")
        self.world.settle(self.world.claim(self.worker, job))
        self.assert_only("lost")

    def test_AJobThatOnlyTheAuditKnows(self):
        job = self.world.enqueue(self.producer, "k1", phase="unknown")
        self.plain("k2")
        del self.world.jobs[job]
        self.assert_only("lost")


class Duplicated(Case):
    def test_TwoEffectsInTheLedger(self):
        _, delivery = self.plain()
        self.world.add_effect(delivery)
        self.assert_tells(self.assert_only("duplicated effect"), "effect of token", "effect of token")

    def test_OneKeyTwoJobs(self):
        self.plain("k1")
        twin = self.world.add_job(None)
        self.world.record("enqueued", twin)
        self.world.settle(self.world.claim(self.worker, twin))
        self.world.jobs[twin]["key_id"] = "k1"
        self.assert_only("duplicated effect")

    def test_OneKeyIsAnsweredWithTwoJobs(self):
        self.plain("k1")
        other, _ = self.plain("k2")
        number = self.producer.call("enqueue", keys=["k1"])
        self.producer.end("enqueue", number, "ok", jobs=[{"key": "k1", "job": other}])
        # The second answer names the job of another key: that is two findings.
        self.assertEqual(self.check().counts, {"duplicated effect": 1, "unexpected": 1})

    def test_TwoEffectsOfAFailedJob(self):
        job = self.world.enqueue(self.producer, "k1", expect="failed")
        delivery = self.world.claim(self.worker, job)
        self.world.settle(delivery, outcome="permanent")
        self.world.add_effect(delivery)
        self.world.add_effect(delivery)
        self.assert_only("duplicated effect")

    def test_AFollowUpIsThereTwice(self):
        parent, _ = self.plain(follows="k1+")
        for key in ("k1+", "other"):
            child = self.world.add_job(key, parent_id=parent)
            self.world.record("enqueued", child)
            self.world.settle(self.world.claim(self.worker, child))
            self.world.jobs[child]["key_id"] = "k1+"
        self.assert_only("duplicated effect")

    def test_RequestsUnderTwoKeys(self):
        job = self.world.enqueue(self.producer, "k1", effect="http")
        delivery = self.world.claim(self.worker, job)
        self.world.request(delivery)
        self.world.request(delivery, key=f"{job}:attempt-2")
        self.world.settle(delivery)
        self.assert_only("duplicated effect")

    def test_OneDeliveryIsSettledTwice(self):
        job, delivery = self.plain()
        number = self.worker.call("settle", worker=self.worker.name, jobs=[{"job": job, "token": delivery.token, "outcome": "ok"}])
        self.worker.end("settle", number, "ok", answers=[{"job": job, "answer": "settled"}])
        self.assert_only("duplicated effect")

    def test_OneDeliveryRunsTwice(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job)
        self.world.work(delivery)
        self.world.work(delivery)
        self.world.settle(delivery)
        self.assert_only("duplicated effect")

    def test_AJobLiesInTwoPlaces(self):
        job, _ = self.plain()
        self.world.jobs["twin"] = {**self.world.jobs[job], "place": "ready", "status": "pending"}
        self.assert_only("duplicated effect")


class Unexpected(Case):
    def test_AJobNobodyAskedFor(self):
        job = self.world.add_job("strange")
        self.world.record("enqueued", job)
        self.world.settle(self.world.claim(self.worker, job))
        self.assert_only("unexpected")

    def test_AnEnqueueThatFailedForCertainWasDone(self):
        job = self.world.enqueue(self.producer, "k1", phase="fail")
        self.world.settle(self.world.claim(self.worker, job))
        self.assert_tells(self.assert_only("unexpected"), "enqueue: asks for k1", "failed, certainly not done")

    def test_AnEffectOfAFailedJob(self):
        job = self.world.enqueue(self.producer, "k1", expect="failed")
        delivery = self.world.claim(self.worker, job)
        self.world.settle(delivery, outcome="permanent")
        self.world.add_effect(delivery)
        self.assert_only("unexpected")

    def test_AFollowUpOfAJobThatFailed(self):
        parent = self.world.enqueue(self.producer, "k1", expect="failed", follows="k1+")
        self.world.settle(self.world.claim(self.worker, parent), outcome="permanent")
        child = self.world.add_job("k1+", parent_id=parent)
        self.world.record("enqueued", child)
        self.world.settle(self.world.claim(self.worker, child))
        self.assert_only("unexpected")

    def test_AnEffectOfAJobNobodyKnows(self):
        _, delivery = self.plain()
        self.world.ledger.append({**self.world.ledger[0], "job_id": self.world.uuid()})
        self.assert_only("unexpected")

    def test_AnEffectThatAFailoverLeftBehind(self):
        job, _ = self.plain()
        self.world.fault("failover", "primary", mode="async", lag_ms=60)
        self.plain("k2")
        del self.world.jobs[job]
        self.world.audit = [a for a in self.world.audit if job not in a["jobs"]]
        self.assert_only("unexpected")

    def test_ARequestOfAJobThatDoesNotExist(self):
        _, delivery = self.plain()
        self.world.server = self.world.process("handler-server")
        self.world.server.write("effect", key="stray:1", job=self.world.uuid(), answered=True, status=200)
        self.assert_only("unexpected")

    def test_AKeyThatBelongsToAnotherJob(self):
        jobs = self.world.enqueue(self.producer, "k1", "k2", effect="http")
        for delivery in self.world.claim(self.worker, *jobs):
            self.world.request(delivery, key="same")
            self.world.settle(delivery)
        self.assert_only("unexpected")

    def test_AlreadySettledTheFirstTime(self):
        job, delivery = self.plain()
        self.worker.lines = [line.replace('"answer":"settled"', '"answer":"already_settled"') for line in self.worker.lines]
        self.assert_only("unexpected")

    def test_ACompletionByNoDelivery(self):
        job = self.world.enqueue(self.producer, "k1", effect="none")
        self.world.jobs[job].update(place="history", status="completed", finished_at=self.world.wall())
        self.world.record("completed", job)
        self.assert_only("unexpected")

    def test_OneDeliveryOfTwoClaims(self):
        job, delivery = self.plain()
        number = self.other.call("claim", worker=self.other.name, queue="chaos", limit=1)
        self.other.end("claim", number, "ok", jobs=[{"job": job, "token": delivery.token, "attempt": 1, "delivery": 1}])
        self.assert_only("unexpected")

    def test_ASettlementWithoutAClaim(self):
        self.plain()
        self.worker.lines = [line for line in self.worker.lines if '"op":"claim"' not in line and '"op":"run"' not in line]
        self.assert_only("unexpected")

    def test_ACompletionNobodyReported(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), phase="fail")
        self.assert_only("unexpected")

    def test_ACompletionByADeliveryNobodyGot(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job, phase=None)
        self.world.settle_one(delivery, "ok", True)
        self.world.record("completed", job)
        self.assert_only("unexpected")

    def lost_claim(self, found):
        """A claim whose answer was lost; what it took goes back, found by asking or not."""
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job, phase="unknown")
        number = self.worker.call("unheld", worker=self.worker.name)
        self.world.advance(1)
        self.worker.end("unheld", number, "ok", jobs=[{"job": job, "token": delivery.token}] if found else [])
        self.world.settle(delivery, outcome="handback")
        again = self.world.claim(self.worker, job)
        self.world.work(again)
        self.world.settle(again)

    def test_WhatALostClaimTookGoesBackByItsToken(self):
        self.lost_claim(found=True)
        self.assert_clean()

    def test_ADeliveryIsGivenBackThatNobodyWasToldOf(self):
        self.lost_claim(found=False)
        self.assert_only("unexpected")

    def test_AnotherOutcomeThanReported(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job)
        self.world.settle(delivery, phase="unknown")
        self.worker.lines = [line.replace('"outcome":"ok"', '"outcome":"permanent"') for line in self.worker.lines]
        self.assert_only("unexpected")

    def test_ADeliveryAfterTheEnd(self):
        job, first = self.plain()
        self.world.advance(10)
        number = self.other.call("claim", worker=self.other.name, queue="chaos", limit=1)
        self.other.end("claim", number, "ok", jobs=[{"job": job, "token": self.world.uuid(), "attempt": 1, "delivery": 2}])
        self.assert_only("unexpected")

    def test_AClaimIsAnsweredWithMoreThanItAskedFor(self):
        jobs = self.world.enqueue(self.producer, "k1", "k2", "k3")
        for delivery in self.world.claim(self.worker, *jobs, limit=2):
            self.world.settle(delivery)
        self.assert_only("unexpected")

    def test_ARunWithoutAClaim(self):
        job, _ = self.plain()
        self.worker.write("run", ph="start", job=job, token=self.world.uuid(), delivery=2, attempt=1)
        self.assert_only("unexpected")

    def test_ACompletionWhereAFailureWasExpected(self):
        self.plain(expect="failed")
        self.assert_only("unexpected")

    def test_LeasesLostWithoutAFault(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_only("unexpected", extra_deliveries_max=0.05)


class Stale(Case):
    def zombie(self):
        job, stale = self.lost_lease()
        fresh = self.world.claim(self.other, job)
        self.world.advance(5)
        return job, stale, fresh

    def test_ASettlementWithoutTheLeaseIsAccepted(self):
        job, stale, fresh = self.zombie()
        number = self.worker.call("settle", worker=self.worker.name, jobs=[{"job": job, "token": stale.token, "outcome": "ok"}])
        self.worker.end("settle", number, "ok", answers=[{"job": job, "answer": "settled"}])
        self.world.settle(fresh)
        verdict = self.assert_only("stale accepted")
        self.assert_tells(verdict, "claim: got job", "FAULT kill", "audit 3: reclaimed", "claim: got job", "settle: answered settled")

    def test_ASettlementAfterTheNextDeliveryIsAccepted(self):
        """The database keeps no trace that the first delivery had lost its lease."""
        job, stale, fresh = self.zombie()
        self.world.attempts.clear()
        self.world.audit = [a for a in self.world.audit if a["action"] != "reclaimed"]
        number = self.worker.call("settle", worker=self.worker.name, jobs=[{"job": job, "token": stale.token, "outcome": "retry"}])
        self.worker.end("settle", number, "ok", answers=[{"job": job, "answer": "settled"}])
        self.world.settle(fresh)
        self.assert_only("stale accepted")

    def test_TwoDeliveriesEndTheJob(self):
        job, stale, fresh = self.zombie()
        self.world.attempts.clear()
        self.world.settle(fresh)
        stale_call = json.loads(self.worker.lines[2])["t"] + 1
        self.worker.lines.insert(3, json.dumps({"t": stale_call, "op": "settle", "n": 9, "ph": "call", "jobs": [
            {"job": job, "token": stale.token, "outcome": "ok"}]}))
        self.worker.lines.insert(4, json.dumps({"t": stale_call + 1, "op": "settle", "n": 9, "ph": "ok", "answers": [{"job": job, "answer": "settled"}]}))
        self.assert_only("stale accepted")

    def test_ARefusedDeliveryEndsTheJob(self):
        job, delivery = self.plain()
        number = self.worker.call("settle", worker=self.worker.name, jobs=[{"job": job, "token": delivery.token, "outcome": "ok"}])
        self.worker.end("settle", number, "ok", answers=[{"job": job, "answer": "lease_lost"}])
        self.worker.lines = [line.replace('"answer":"settled"', '"answer":null') for line in self.worker.lines]
        self.assert_only("stale accepted")

    def test_ALostDeliveryEndsTheJob(self):
        job = self.world.enqueue(self.producer, "k1")
        delivery = self.world.claim(self.worker, job)
        self.world.settle(delivery, phase="unknown")
        self.world.attempts.append({"job_id": job, "generation": 1, "delivery_count": 1, "outcome": "lost", "token": delivery.token,
                                    "worker_id": self.worker.name, "ended_at": self.world.wall()})
        self.assert_only("stale accepted")

    def test_TheEffectIsOfAnotherDeliveryThanTheSettlement(self):
        job, stale, fresh = self.zombie()
        self.world.settle(fresh)
        self.world.ledger[0]["token"] = stale.token
        self.assert_only("stale accepted")


class Stuck(Case):
    def test_AJobIsLeftBehind(self):
        self.world.enqueue(self.producer, "k1")
        self.plain("k2")
        self.assert_tells(self.assert_only("stuck"), "enqueue: asks for k1", "is pending, in ready")

    def test_ALeaseOfADeadWorkerStaysForever(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.kill(self.worker)
        self.world.advance(20_000)
        self.plain("k2", worker=self.other)
        self.assert_only("stuck", expect_drained=False)

    def test_JobsMayLiveOnWhereTheRunSaysSo(self):
        self.world.enqueue(self.producer, "k1")
        self.assert_clean(expect_drained=False)


class FalselyDead(Case):
    def test_AnInnocentJobIsPoison(self):
        job, _ = self.lost_lease()
        self.world.claim(self.other, job)
        self.world.end_lease(self.world.jobs[job], "lost")
        self.world.jobs[job].update(place="history", status="failed", reason="poison", token=self.world.attempts[-1]["token"], finished_at=self.world.wall())
        self.world.record("failed", job)
        verdict = self.assert_only("falsely dead")
        self.assertIn("poison", verdict.violations[0].detail)

    def test_AnUnwantedCancellation(self):
        self.world.cancel(self.world.enqueue(self.producer, "k1"))
        self.assert_only("falsely dead")


if __name__ == "__main__":
    unittest.main()
