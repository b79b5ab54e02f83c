"""Service: a helper in a process of its own (gate, HTTP ledger), steered over a unix socket.

One line of JSON per call, {"call": name, "args": {...}}, and one per answer, {"ok": value} or {"error": text}; a connection per call, so
that one that waits does not hold up others. The control socket is made by the run and inherited by the helper: the first call waits in
the socket until the helper has come up, and fails when it has died.

    class Gate(Service): module = "nemesis.gate"; start(); call("stall", on=True); stop()
    serve(control, commands, main): in the helper; each public method of `commands` is a call, plain or async
"""
import asyncio
import inspect
import json
import os
import pathlib
import socket
import sys


class Service:
    module = None

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.process = None
        self._control = str(world.dir / f"{name}.control")

    def launch(self, arguments):
        """Starts the helper and returns what it says of itself: its first answer, to the call `hello`."""
        pathlib.Path(self._control).unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(self._control)
            listener.listen(64)
            package_parent = pathlib.Path(__file__).resolve().parent.parent
            self.process = self.world.processes.start(
                self.name, [sys.executable, "-m", self.module, "--control", listener.fileno(), "--history", self.world.history_dir, *arguments],
                cwd=package_parent, env={"PYTHONDONTWRITEBYTECODE": "1"}, pass_fds=(listener.fileno(),))
        self.world.adopt(self)
        return self.call("hello")

    def call(self, name, timeout=60, **arguments):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(timeout)
            line.connect(self._control)
            line.sendall(json.dumps({"call": name, "args": arguments}).encode() + b"\n")
            with line.makefile("rb") as answers:
                text = answers.readline()
        if not text:
            raise RuntimeError(f"{self.name} has died:\n{self.process.log_text()[-2000:]}")
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer["ok"]

    def stop(self):
        if self.process:
            self.process.end()


async def _answer(commands, reader, writer):
    try:
        request = json.loads(await reader.readline())
        name = request["call"]
        if name.startswith("_"):
            raise ValueError(f"no call {name}")
        value = getattr(commands, name)(**request["args"])
        if inspect.isawaitable(value):
            value = await value
        answer = {"ok": value}
    except Exception as error:  # Whatever it was: the caller wants to read it.
        answer = {"error": f"{type(error).__name__}: {error}"}
    try:
        writer.write(json.dumps(answer, default=str).encode() + b"\n")
        await writer.drain()
    except ConnectionError:
        pass
    writer.close()


def serve(control, commands):
    """Runs until the process is killed. `commands.prepare()` is awaited before the first call is answered."""
    listener = socket.socket(fileno=os.dup(control))

    async def run():
        await commands.prepare()
        server = await asyncio.start_unix_server(lambda r, w: _answer(commands, r, w), sock=listener)
        await server.serve_forever()

    asyncio.run(run())
