"""A job service as one writes it with FastAPI and asyncpg: a pool in each worker, prepared statements, models for what comes in, tokens
verified once and remembered. Run by uvicorn with one worker per core; what it needs to know is in the variable PEER."""

import contextlib
import functools
import json
import os
import pathlib
import time
import uuid
from typing import Annotated

import asyncpg
import jwt
import orjson
from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

SPEC = json.loads(os.environ["PEER"])
OWN = SPEC["schema"] == "own"
STATEMENTS = json.loads((pathlib.Path(__file__).parent / "statements.json").read_text())[SPEC["schema"]]


class Connection(asyncpg.Connection):
    """Single statements leave nothing behind that has to be reset: saves a round trip per request."""

    def get_reset_query(self):
        return ""


@contextlib.asynccontextmanager
async def lifespan(app):
    app.state.pool = await asyncpg.create_pool(SPEC["url"], min_size=10, max_size=10, connection_class=Connection)
    yield
    await app.state.pool.close()


app = FastAPI(lifespan=lifespan)


@functools.lru_cache(maxsize=1024)
def verified(token):
    return jwt.decode(token, SPEC["secret"], algorithms=["HS256"])


async def caller(authorization: Annotated[str, Header()] = ""):
    try:
        claims = verified(authorization.removeprefix("Bearer "))
    except jwt.InvalidTokenError:
        raise HTTPException(401, "who is it?") from None
    if claims["exp"] <= time.time():
        raise HTTPException(401, "the token has expired")
    return claims


class NewJob(BaseModel):
    model_config = ConfigDict(extra="forbid")
    job_type: str = Field(min_length=1, max_length=200)
    queue: str = Field("default", min_length=1, max_length=200)
    payload: dict


@app.get("/api/v1/jobs/{job_id}")
async def get_job(job_id: uuid.UUID, request: Request, _: Annotated[dict, Depends(caller)]):
    row = await request.app.state.pool.fetchrow(STATEMENTS["get"], job_id)
    if row is None:
        raise HTTPException(404, "no such job")
    body = orjson.dumps(dict(row), default=str) if OWN else row["job"]
    return Response(body, media_type="application/json")


@app.post("/api/v1/jobs", status_code=201)
async def add_job(job: NewJob, request: Request, _: Annotated[dict, Depends(caller)]):
    correlation = request.headers.get("x-correlation-id") or str(uuid.uuid4())
    payload = orjson.dumps(job.payload).decode()
    job_id = await request.app.state.pool.fetchval(STATEMENTS["add"], job.job_type, payload, job.queue, correlation)
    return Response(orjson.dumps({"job_id": str(job_id)}), status_code=201, media_type="application/json")
