"""The client against the real server, which tests/clients/with_server starts and names in the environment."""
import os
import pathlib
import sys
import threading
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from millrace import Client, Problem  # noqa: E402

LATER = {"job_type": "noop", "payload": {"n": 1}, "delay_seconds": 3600}


@unittest.skipUnless("MILLRACE_URL" in os.environ, "MILLRACE_URL is not set: run through tests/clients/with_server")
class Server(unittest.TestCase):
    def setUp(self):
        self.client = Client.from_environment()
        self.operator = Client(os.environ["MILLRACE_URL"], os.environ["MILLRACE_OPERATOR_TOKEN"])
        self.addCleanup(self.client.close)
        self.addCleanup(self.operator.close)

    def test_a_job_is_created_waited_for_and_read(self):
        created = self.client.jobs.create("noop", {"n": 1})
        self.assertEqual(created["answer"], "created")
        self.assertEqual(self.client.jobs.wait_for(created["job_id"], timeout=30)["status"], "completed")
        self.assertEqual(self.client.jobs.result(created["job_id"])["status"], "completed")
        self.assertEqual(list(self.client.jobs.logs(created["job_id"])), [])

    def test_the_same_key_makes_one_job(self):
        key = str(uuid.uuid4())
        first = self.client.jobs.create(**LATER, key=key)
        self.assertEqual(self.client.jobs.create(**LATER, key=key)["job_id"], first["job_id"])
        with self.assertRaises(Problem) as caught:
            self.client.jobs.create(**LATER, key=key, priority=7)
        self.assertEqual((caught.exception.status, caught.exception.code), (422, "idempotency_mismatch"))
        self.client.jobs.cancel(first["job_id"], "test")
        self.assertEqual(self.client.jobs.get(first["job_id"])["status"], "cancelled")

    def test_a_document_is_kept_ordered_and_followed_to_its_pdf(self):
        user = Client(os.environ["MILLRACE_URL"], os.environ["MILLRACE_USER_TOKEN"])
        self.addCleanup(user.close)
        sample = {one["slug"]: one for one in user.exports.templates()}["letter"]["sample"]
        kept = user.exports.create("A letter", sample, template="letter")
        self.assertEqual(kept["version"], 1)
        self.assertEqual([one["id"] for one in user.exports.list()], [kept["id"]])
        with self.assertRaises(Problem) as caught:
            user.exports.create("A letter", {}, template="letter")
        self.assertEqual(caught.exception.status, 400)
        self.assertEqual({error["rule"] for error in caught.exception.errors}, {"required"})
        batch = user.exports.order_batch([kept["id"]], pageSize="A4")
        names = [event.event for event in user.events.export_batch(batch["batchId"])]
        self.assertEqual(names[-1], "finished")
        ended = user.exports.wait_for(batch["jobs"][0]["jobId"], timeout=60)
        self.assertEqual(ended["status"], "completed", ended)
        self.assertTrue(user.exports.batch_files(batch["batchId"])["files"][0]["url"])
        user.exports.delete(kept["id"])

    def test_a_request_that_breaks_rules_says_which(self):
        with self.assertRaises(Problem) as caught:
            self.client.jobs.create("noop", {"n": 1}, priority=5000)
        self.assertEqual([(error["pointer"], error["rule"]) for error in caught.exception.errors], [("#/priority", "maximum")])
        self.assertTrue(caught.exception.cid)

    def test_all_pages_are_read(self):
        correlation = f"page-{uuid.uuid4()}"
        made = {job["job_id"] for job in self.client.jobs.create_many([{**LATER, "correlation_id": correlation}] * 7)}
        self.assertEqual({job["job_id"] for job in self.client.jobs.list(correlation_id=correlation, limit=3)}, made)
        for job_id in made:
            self.client.jobs.cancel(job_id)

    def test_a_batch_is_waited_for(self):
        batch = self.client.batches.create([{"job_type": "noop", "payload": {"n": n}} for n in (1, 2)])
        done = self.client.batches.wait_for(batch["batch_id"], timeout=30)
        self.assertEqual((done["completed"], done["failed"]), (2, 0))

    def test_queues_are_paused_by_operators_only(self):
        with self.assertRaises(Problem) as caught:
            self.client.queues.pause("default", "no")
        self.assertEqual(caught.exception.status, 403)
        try:
            self.operator.queues.pause("default", "test")
        finally:
            self.operator.queues.resume("default")
        self.assertIn("default", [queue["queue"] for queue in self.operator.queues.list()])
        self.assertGreaterEqual(self.operator.queues.scale("default")["demand"], 0)

    def test_nobody_gets_nothing_but_health(self):
        nobody = Client(os.environ["MILLRACE_URL"])
        self.addCleanup(nobody.close)
        with self.assertRaises(Problem) as caught:
            nobody.queues.list()
        self.assertEqual(caught.exception.status, 401)
        self.assertEqual(nobody.health()["status"], "healthy")

    def test_a_job_is_watched_to_its_end_and_resumed_behind_an_event(self):
        job_id = self.client.jobs.create("sleep", {"ms": 300})["job_id"]
        events = list(self.client.events.job(job_id))
        self.assertEqual((events[0].event, events[-1].event), ("snapshot", "completed"))
        self.assertEqual(list(self.client.events.job(job_id, last_event_id=events[-1].id)), [])

    def test_a_batch_is_watched_to_its_end(self):
        batch = self.client.batches.create([{"job_type": "sleep", "payload": {"ms": 100 * n}} for n in (1, 2)])
        self.assertEqual(list(self.client.events.batch(batch["batch_id"]))[-1].event, "finished")

    def test_the_tenants_events_are_seen_as_they_happen(self):
        seen = threading.Event()

        def produce():  # Until the stream, whenever it was opened, has seen one.
            client = Client.from_environment()
            while not seen.wait(0.05):
                client.jobs.create("noop", {"n": 1})
            client.close()

        producer = threading.Thread(target=produce)
        producer.start()
        stream = self.client.events.all()
        try:
            self.assertTrue(next(event for event in stream if event.event == "job.completed").id)
        finally:
            seen.set()
            producer.join()
            stream.close()

    def test_an_upload_is_a_document_with_a_state_of_its_own(self):
        file = self.client.uploads.create(b"%PDF-1.4 a letter\n", file_name="a.pdf", content_type="application/pdf", owner_id=str(uuid.uuid4()))
        document = self.client.documents.get(file["id"])
        self.assertIn(document["state"], {"uploaded", "processing", "rejected", "failed"})
        self.assertIn(file["id"], [one["id"] for one in self.client.documents.list()])
        self.assertEqual(list(self.client.documents.facts(file["id"])), [])
        with self.assertRaises(Problem) as refused:
            self.client.documents.output(file["id"], "fhir")
        self.assertIn(refused.exception.status, {404, 409})
        with self.assertRaises(Problem) as missing:
            self.client.documents.get(str(uuid.uuid4()))
        self.assertEqual(missing.exception.status, 404)

    def test_a_file_is_uploaded_once_however_often_it_is_sent(self):
        key, owner, content = str(uuid.uuid4()), str(uuid.uuid4()), b"%PDF-1.4 a small file\n"
        first = self.client.uploads.create(content, file_name="a.pdf", content_type="application/pdf", owner_id=owner, key=key)
        again = self.client.uploads.create(content, file_name="a.pdf", content_type="application/pdf", owner_id=owner, key=key)
        self.assertEqual(first["id"], again["id"])
        self.assertEqual(self.client.uploads.content(first["id"]), content)
        self.assertEqual([file["id"] for file in self.client.uploads.list() if file["id"] == first["id"]], [first["id"]])
        self.client.uploads.delete(first["id"])
        with self.assertRaises(Problem):
            self.client.uploads.get(first["id"])


if __name__ == "__main__":
    unittest.main()
