#!/usr/bin/env python3
"""What a run as a whole must keep: recovery in time, limits, the audit, and having reached what it was to reach."""
import pathlib
import unittest

from checker_case import Case
from proof import check_run
from proof.checks.limits import fullest_window
from synthetic_run import World


class Late(Case):
    def test_AKilledWorkersJobComesBackTooLate(self):
        job, _ = self.lost_lease(after_ms=4000)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_tells(self.assert_only("recovery late"), "FAULT kill", "reclaimed", "claim: got job")

    def test_OnlyTheHundredthPartMayExceedTheBar(self):
        for n in range(200):
            victim = self.worker = self.world.process("worker")
            job, _ = self.lost_lease(f"k{n}", after_ms=2800 if n == 7 else 1000)
            self.world.settle(self.world.claim(self.other, job))
        verdict = self.assert_clean()
        self.assertGreater(verdict.recovery["killed"]["max"], verdict.recovery["killed"]["bar"])

    def test_NoneMayExceedTwiceTheLease(self):
        for n in range(200):
            self.worker = self.world.process("worker")
            job, _ = self.lost_lease(f"k{n}", after_ms=9000 if n == 7 else 1000)
            self.world.settle(self.world.claim(self.other, job))
        self.assert_only("recovery late")

    def test_ASupervisorIsFaster(self):
        boss = self.world.process("supervisor")
        self.worker = self.world.process("worker", supervisor=boss.name)
        job, _ = self.lost_lease(after_ms=900)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_only("recovery late")

    def test_ASupervisorIsKnownByWhatItGivesBack(self):
        boss = self.world.process("supervisor")
        job, _ = self.lost_lease(after_ms=100)
        boss.end("handback", boss.call("handback", worker=self.worker.name), "ok", count=1)
        self.world.advance(600)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_only("recovery late")

    def test_ADeadSupervisorCannotBe(self):
        boss = self.world.process("supervisor")
        self.worker = self.world.process("worker", supervisor=boss.name)
        self.world.kill(boss)
        job, _ = self.lost_lease(after_ms=900)
        self.world.settle(self.world.claim(self.other, job))
        self.assertIn("killed", self.assert_clean().recovery)

    def test_AClaimThatWasUnderWayIsNoRecovery(self):
        job = self.world.enqueue(self.producer, "k1")
        self.worker.call("claim", worker=self.worker.name, queue="chaos", limit=1)
        self.world.kill(self.worker)
        self.world.advance(20)
        self.world.take(self.worker, job)  # The server did not notice that nobody waits for it.
        self.world.advance(1000)
        self.world.reclaim(job)
        self.world.advance(9000)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_only("recovery late")

    def test_AHolderThatDiesUnheardIsOne(self):
        job, _ = self.lost_lease(after_ms=1000)
        second = self.world.process("worker")
        self.world.advance(100)
        second.call("claim", worker=second.name, queue="chaos", limit=1)
        self.world.take(second, job)
        self.world.kill(second)
        self.world.advance(1400)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.assertEqual(self.assert_clean().recovery["killed"]["count"], 2)

    def test_AStopThatWasOverIsNotTheCause(self):
        self.world.fault("stop", self.worker)
        self.world.advance(2200)
        self.world.fault("cont", self.worker)
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.advance(1600)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        verdict = self.assert_clean()
        self.assertNotIn("stopped", verdict.recovery)
        self.assertEqual(verdict.figures["lost_without_fault"], 1)

    def test_ACutThatWasBeforeIsNotTheCause(self):
        self.world.fault("cut", self.worker)
        self.world.advance(3000)
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.advance(1600)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.assertEqual(self.assert_clean().figures["lost_without_fault"], 1)

    def test_AStopWhileItIsHeldIsTheCause(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.claim(self.worker, job)
        self.world.fault("stop", self.worker)
        self.world.advance(2200)
        self.world.fault("cont", self.worker)
        self.world.advance(2000)
        self.world.reclaim(job)
        self.world.settle(self.world.claim(self.other, job))
        self.assert_only("recovery late")

    def test_TheServiceComesBackTooLate(self):
        self.plain("k1")
        self.world.fault("pg_crash")
        self.world.advance(1000)
        self.world.fault("pg_up")
        self.world.advance(7000)
        self.plain("k2")
        self.assert_only("recovery late")


class Limits(Case):
    def limit(self, **values):
        self.world.limits.append({"kind": "limit", "limit": "stand-in:bar", "window_s": 10, **values})

    def grants(self, *times, cost=10, until=0.0):
        for t in times:
            self.world.limits.append({"kind": "grant", "limit": "stand-in:bar", "at": 1000.0 + t, "until": 1000.0 + t + until, "cost": cost})

    def test_AWindowIsExceededByGrants(self):
        self.plain()
        self.limit(tokens=100)
        self.grants(*(i * 0.9 for i in range(11)))
        verdict = self.assert_only("limit exceeded")
        self.assert_tells(verdict, "granted 10, 10 in the window so far", "110 in the window")

    def test_AFullWindowIsAllowed(self):
        self.plain()
        self.limit(tokens=100)
        self.grants(*(i * 1.01 for i in range(40)))
        self.assert_clean()

    def test_WhatIsNotCertainlyInsideIsNotBlamed(self):
        self.plain()
        self.limit(tokens=100)
        self.grants(*(i * 0.99 for i in range(40)), until=0.5)
        self.assert_clean()

    def test_AWindowIsExceededByArrivals(self):
        self.limit(requests=5)
        server = self.world.process("stand-in")
        for _ in range(6):
            server.write("arrival", limit="stand-in:bar", cost=1)
            self.world.advance(1500)
        self.plain()
        self.assert_only("limit exceeded")

    def test_AWindowIsExceededByRequests(self):
        self.limit(requests=2)
        for n in range(3):
            job = self.world.enqueue(self.producer, f"k{n}", limit="stand-in:bar", effect="http")
            delivery = self.world.claim(self.worker, job)
            self.world.request(delivery)
            self.world.settle(delivery)
            self.world.advance(4400)
        # Both the claims and what arrived are too many.
        self.assert_only("limit exceeded", count=2)

    def test_AWindowIsExceededByClaims(self):
        self.limit(requests=2)
        for n in range(3):
            self.plain(f"k{n}", limit="stand-in:bar")
        self.assert_only("limit exceeded")

    def test_MoreAtOnceThanSlots(self):
        self.limit(concurrent=1)
        jobs = self.world.enqueue(self.producer, "k1", "k2", limit="stand-in:bar")
        deliveries = [self.world.claim(self.worker, job) for job in jobs]
        for delivery in deliveries:
            self.world.settle(delivery)
        self.assert_only("limit exceeded")

    def test_MoreOfAQueueAtOnceThanItsBound(self):
        self.world.limits.append({"kind": "queue", "queue": "chaos", "concurrent": 1})
        jobs = self.world.enqueue(self.producer, "k1", "k2")
        for delivery in self.world.claim(self.worker, *jobs):
            self.world.settle(delivery)
        self.assert_only("limit exceeded")

    def test_ASlotIsNotReturned(self):
        self.limit(concurrent=4)
        job, delivery = self.plain(limit="stand-in:bar")
        self.world.advance(60_000)
        self.world.limits.append({"kind": "slot", "limit": "stand-in:bar", "job": job, "token": delivery.token, "lease_until": self.world.wall()})
        self.assert_only("limit exceeded")

    def test_ASlotMayWaitForItsSweep(self):
        self.limit(concurrent=4)
        job, delivery = self.plain(limit="stand-in:bar")
        self.world.limits.append({"kind": "slot", "limit": "stand-in:bar", "job": job, "token": delivery.token, "lease_until": self.world.wall()})
        self.assert_clean()

    def test_FullestWindowAgreesWithCountingEveryWindow(self):
        for seed in range(40):
            world = World(seed)
            grants = []
            for _ in range(30):
                at = world.random.randrange(0, 200) / 10
                grants.append((at, at + world.random.choice([0, 0, 0.3, 1.0]), 1, world.random.randrange(1, 5)))
            slow = max(sum(g[3] for g in grants if g[0] >= x and g[1] <= x + 5) for x, *_ in grants)
            self.assertEqual(fullest_window(grants, 3, 5)[0], slow)


class Audit(Case):
    def test_AnEndIsNotRecorded(self):
        self.plain()
        self.world.audit.pop()
        self.assert_only("audit gap")

    def test_ATransitionIsRecordedTwice(self):
        job, _ = self.plain()
        self.world.record("completed", job)
        self.assert_tells(self.assert_only("audit gap"), "audit 3: completed", "audit 4: completed")

    def test_AClaimIsNotRecorded(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), outcome="handback")
        self.world.settle(self.world.claim(self.worker, job))
        self.world.audit = [a for a in self.world.audit if a["audit_id"] not in (2, 3)]
        self.assert_only("audit gap")

    def test_AnEnqueueIsNotRecorded(self):
        self.plain()
        self.world.audit.pop(0)
        self.assert_only("audit gap")

    def test_AReclaimIsNotRecorded(self):
        job, _ = self.lost_lease()
        self.world.settle(self.world.claim(self.other, job))
        self.world.audit = [a for a in self.world.audit if a["action"] != "reclaimed"]
        self.assert_only("audit gap")

    def test_TheAttemptsDisagree(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), outcome="retry")
        self.world.settle(self.world.claim(self.worker, job))
        self.world.attempts.append({**self.world.attempts[0], "token": self.world.uuid()})
        self.assert_only("audit gap")

    def test_TheRecordSaysAnotherEnd(self):
        self.plain()
        self.world.audit[-1]["action"] = "failed"
        self.assert_only("audit gap")

    def test_TheRecordSaysReclaimedWhereSomebodySettled(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), outcome="retry")
        self.world.settle(self.world.claim(self.worker, job))
        self.world.audit[2]["action"] = "reclaimed"
        self.assert_only("audit gap")

    def test_TheRecordSaysRescheduledWhereAnAttemptFailed(self):
        job = self.world.enqueue(self.producer, "k1")
        self.world.settle(self.world.claim(self.worker, job), outcome="retry")
        self.world.settle(self.world.claim(self.worker, job))
        self.world.audit[2]["action"] = "rescheduled"
        self.assert_only("audit gap")

    def test_TheChainIsBroken(self):
        self.plain()
        self.world.counters["audit_problems"] = 2
        self.assert_only("audit gap")

    def test_TheAccountDoesNotBalance(self):
        self.plain()
        self.world.counters["totals"] = {"enqueued": 2, "completed": 1, "failed": 0, "cancelled": 0, "live": 0}
        self.assert_only("audit gap")

    def test_AnAccountThatBalances(self):
        self.plain()
        self.world.counters["totals"] = {"enqueued": 1, "completed": 1, "failed": 0, "cancelled": 0, "live": 0}
        self.assert_clean()

    def test_TheOrderOfTheFileDoesNotMatter(self):
        self.plain("k1")
        self.plain("k2")
        self.world.audit.reverse()
        self.assert_clean()


class Coverage(Case):
    def test_APointWasNotHit(self):
        self.plain()
        self.assert_only("never reached", points=["settle.after_send"])

    def test_TheNemesisTellsOfProcessesWithoutAHistory(self):
        self.plain()
        self.world.fault("kill", "own-4", point="migrate.after_send", pid=77)
        self.world.hit(self.worker, "claim.after", action="drop")
        self.world.fault("kill", self.worker, point="claim.after")
        verdict = self.assert_clean(points=["migrate.after_send", "claim.after"])
        self.assertEqual([(p["point"], p["hit"]) for p in verdict.points], [("claim.after", 1), ("migrate.after_send", 1)])

    def test_APropertyWasNotSeen(self):
        self.plain()
        self.worker.write("reached", name="seen")
        self.assert_only("never reached", sometimes=["seen", "unseen"])

    def test_AnInvariantBroke(self):
        self.plain()
        self.worker.write("violated", name="claim_within_limit")
        self.assert_only("invariant broken")

    def test_ListsMayBeFiles(self):
        self.plain()
        self.world.hit(self.worker, "settle.after_send", action="drop")
        self.world.write(self.folder.name, points="points.txt")
        (pathlib.Path(self.folder.name) / "points.txt").write_text("# all\nsettle.after_send src/store\n\n")
        self.assertTrue(check_run(self.folder.name).ok)


if __name__ == "__main__":
    unittest.main()
