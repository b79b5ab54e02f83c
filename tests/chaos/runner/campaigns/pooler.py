"""Everything through PgBouncer in transaction mode, which is killed and restarted meanwhile."""
import time

from nemesis.pooler import Pooler

COUNTS = {"short": {"kills": 2, "pooler_kills": 1}, "long": {"kills": 40, "pooler_kills": 20}, "release": {"kills": 200, "pooler_kills": 100}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        pooler = Pooler(world, deployment.database).start()
        workers = [deployment.worker(keeper=i < 2, url=pooler.url()) for i in range(4)]
        # Few enough that no backlog builds up while nobody has a connection: jobs of low priority would wait in it, and that is no recovery.
        deployment.producer(rate=20, url=pooler.url())
        world.history.phase("load")
        plan = ["worker"] * counts["kills"] + ["pooler"] * counts["pooler_kills"]
        stage.random.shuffle(plan)
        for n, kind in enumerate(plan):
            time.sleep(0.4 + 0.4 * stage.random.random())
            if kind == "pooler":
                pooler.kill()
                time.sleep(stage.random.choice((0.0, 0.5, 1.5)))
                pooler.restart()
            else:
                stage.random.choice(workers).kill()
                for worker in workers:
                    if not worker.alive:
                        worker.restart()
            stage.progress(n + 1, len(plan), kind)
        return stage.finish(deployment, {"worker_kills": counts["kills"], "pooler_kills": counts["pooler_kills"]})
