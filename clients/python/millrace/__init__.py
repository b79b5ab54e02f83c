"""Client of Millrace's HTTP API: jobs, batches, queues, uploads, live events. Standard library only.

    from millrace import Client

    millrace = Client("http://127.0.0.1:8080", token="…")
    job = millrace.jobs.create("thumbnail", {"file": "a.png"})
    done = millrace.jobs.wait_for(job["job_id"], timeout=60)
"""
from .client import Client
from .errors import ConnectionLost, MillraceError, Problem, WaitTimeout
from .events import Event

__all__ = ["Client", "ConnectionLost", "Event", "MillraceError", "Problem", "WaitTimeout"]
__version__ = "0.1.0"
