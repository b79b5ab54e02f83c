"""FullDisk: a PostgreSQL whose volume is small and can be filled and freed.

    reason = why_not()                       None, or why no such volume can be made here (it takes root to mount one)
    disk = FullDisk(world, size_mb=160).start()
    disk.database                            Postgres on the volume; small log segments, so that the log takes new room soon
    disk.fill(leave_kb=0)                    a ballast file takes all room but that; logged as "disk_full"
    disk.free()                              removes it; logged as "disk_free"
    disk.wait_until_down(timeout)            True when the server gave up meanwhile: without room for its log it must
    disk.revive()                            starts the server again if it ended, waits for it if it is restarting itself; "survived",
                                             "restarted itself" or "was restarted"
    disk.free_bytes()
"""
import os
import pathlib
import subprocess

from .postgres import Postgres
from .replication import wait_until


def why_not():
    if os.geteuid() != 0:
        return "mounting a small volume takes root"
    probe = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"mounting is not allowed here: {probe.stderr.strip()}"


class FullDisk:
    def __init__(self, world, name="disk", size_mb=160, migrated=True):
        self.world, self.name, self.size_mb = world, name, size_mb
        self.home = world.dir / name
        self.ballast = self.home / "ballast"
        # Dynamic shared memory beside the volume, as servers have it: where it has no room left, PostgreSQL itself crashes in a loop.
        self.database = Postgres(world, f"{name}_db", migrated=migrated, home=self.home, wal_segment_mb=1,
                                 settings={"min_wal_size": "2MB", "max_wal_size": "16MB", "shared_buffers": "16MB", "temp_file_limit": "16MB",
                                           "dynamic_shared_memory_type": "posix"})
        self._mounted = False
        self._log_size = 0

    def start(self):
        self.world.adopt(self)
        self.world.new_dir(self.home.name)
        owner = self.world.server_user
        self.world.run(["mount", "-t", "tmpfs", "-o", f"size={self.size_mb}m,mode=0700,uid={owner['user']},gid={owner['group']}", "millrace-chaos", self.home])
        self._mounted = True
        self.world.guard.watch("mount", str(self.home))
        self.database.start()
        return self

    def free_bytes(self):
        state = os.statvfs(self.home)
        return state.f_bavail * state.f_frsize

    def fill(self, leave_kb=0):
        """The server's room ends at once: whatever else grows meanwhile, nothing is left beyond `leave_kb`."""
        self._log_size = len(self.database.log_text())
        self.world.history.fault("disk_full", self.name, leave_kb=leave_kb)
        with open(self.ballast, "ab") as file:
            while (room := self.free_bytes() - leave_kb * 1024) > 0:
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), room)
                except OSError:  # Somebody was faster; what is left is asked for again.
                    if self.free_bytes() < 4096:
                        break

    def free(self):
        self.ballast.unlink(missing_ok=True)
        self.world.history.fault("disk_free", self.name, server_alive=self.database.alive)

    def wait_until_down(self, timeout):
        return self.database.process.wait(timeout) is not None

    def revive(self):
        panicked = "reinitializing" in self.database.log_text()[self._log_size:]
        if self.database.alive:
            wait_until(self._answers, 60, "the server takes connections again")
            if self.database.alive:
                return "restarted itself" if panicked else "survived"
        self.database.restart()
        return "was restarted"

    def _answers(self):
        return not self.database.alive or self.database.sql("select 1") == "1"

    def stop(self):
        self.database.stop()
        if self._mounted:
            self._mounted = False
            subprocess.run(["umount", "-l", str(pathlib.Path(self.home))], check=True, capture_output=True)
            self.world.guard.forget("mount", str(self.home))
