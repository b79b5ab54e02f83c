"""A full volume is a clear error and no corruption; freed, everything goes on."""
import unittest

from .disk import FullDisk, why_not
from .testing import NemesisTest, faults
from .wire import ConnectionLost, ServerError

BIG = "insert into public.t select string_agg(md5(random()::text), '') from generate_series(1, 3000) group by random() < 2"


class DiskTest(NemesisTest):
    def setUp(self):
        reason = why_not()
        if reason:
            print(f"  disk full is not tested: {reason}", flush=True)
            self.skipTest(reason)

    def test_full_then_freed(self):
        disk = FullDisk(self.world).start()
        self.addCleanup(disk.stop)
        database = disk.database
        database.sql("create table public.t (a text); alter table public.t alter a set storage external")
        acknowledged = self.insert_until_refused(database, 3)[0]
        self.assertEqual(acknowledged, 3)
        disk.fill(leave_kb=256)
        self.assertLessEqual(disk.free_bytes(), 256 * 1024)
        more, reason = self.insert_until_refused(database, 1000)
        self.assertLess(more, 1000)
        disk.free()
        self.assertGreater(disk.free_bytes(), 16 * 1024 * 1024)
        revived = disk.revive()
        found = database.number("select count(*) from public.t")
        self.assertIn(found - acknowledged - more, (0, 1))
        self.assertEqual(self.insert_until_refused(database, 3)[0], 3)
        database.sql("vacuum full public.t")  # Reads and writes every page.
        self.figure(f"{more} more rows, then: {reason}; server {revived}")
        self.no_room_for_the_log(disk)
        self.assertEqual([line["kind"] for line in faults(target="disk")], ["disk_full", "disk_free"] * 2)

    def no_room_for_the_log(self, disk):
        database = disk.database
        database.sql("create table public.small (a int); insert into public.small values (0)")
        disk.fill()
        acknowledged, reason = self.insert_until_refused(
            database, 100_000, "update public.small set a = a + 1; select pg_logical_emit_message(true, 'filler', repeat('x', 100000))")
        disk.wait_until_down(1)
        disk.free()
        revived = disk.revive()
        self.assertIn(database.number("select a from public.small") - acknowledged, (0, 1))
        self.figure(f"{acknowledged} small transactions, then: {reason}; server {revived}")

    def insert_until_refused(self, database, most, statement=BIG):
        for number in range(most):
            try:
                database.sql(statement)
            except (ServerError, ConnectionLost, OSError) as error:
                return number, str(error)
        return most, None


if __name__ == "__main__":
    unittest.main()
