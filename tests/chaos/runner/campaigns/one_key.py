"""One idempotency key, many producers at once, killed at random: one job, one answer; other parameters under the same key are refused."""
import concurrent.futures
import json

from nemesis.wire import message

COUNTS = {"short": {"requests": 40}, "long": {"requests": 1000}, "release": {"requests": 10000}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        for _ in range(2):
            deployment.worker(keeper=True)
        world.history.phase("load")
        spec = [{"job_type": "chaos", "idempotency_key": "the-key", "payload": {"kind": "plain", "key_id": "the-key", "ms": 5, "n": 1, "expect": "completed"}}]
        other = [dict(spec[0], payload=dict(spec[0]["payload"], ms=6))]
        history = world.history

        def ask(number):
            """Most ask for the same thing; every seventh dies after sending, every ninth asks for something else under this key."""
            wrong = number % 9 == 0
            call = history.call("enqueue", keys=["the-key"]) if not wrong else None
            try:
                with deployment.database.connect() as client:
                    text = json.dumps(other if wrong else spec).replace("'", "''")
                    statement = f"select job_id from millrace.enqueue_jobs('{text}')"
                    if number % 7 == 0 and not wrong:
                        client.send(message(b"Q", statement.encode() + b"\0"))
                        history.unknown(call, "left before the answer")
                        return "left"
                    job = client.value(statement)
            except Exception as error:
                if wrong:
                    return "refused" if "MR" in str(getattr(error, "sqlstate", "")) or "idempotency" in str(error).lower() else f"odd: {error}"
                history.fail(call, error)
                return f"failed: {error}"
            if wrong:
                return f"accepted {job}"
            history.ok(call, jobs=[{"key": "the-key", "job": job}])
            return job

        answers = {}
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            for done, answer in enumerate(pool.map(ask, range(1, counts["requests"] + 1)), 1):
                answers[answer] = answers.get(answer, 0) + 1
                stage.progress(done, counts["requests"])
        jobs = [a for a in answers if len(a) == 36 and a.count("-") == 4]
        verdict = stage.finish(deployment, {"requests": counts["requests"], "answers": {k[:60]: v for k, v in answers.items()}})
        verdict.check("T22", "one job, one identical answer", len(jobs) == 1, f"{len(jobs)} jobs, {answers.get(jobs[0] if jobs else '', 0)} equal answers")
        odd = [a for a in answers if a.startswith(("odd", "accepted", "failed"))]
        verdict.check("T22", "other parameters are always refused", not odd, odd[:3] or f"{answers.get('refused', 0)} refused")
        return verdict
