"""Reads back by the program what the package writes without PyTorch."""

import json
import math
import os
import shutil
import signal
import struct
import time
import unittest
import warnings

import support

numpy = support.need("numpy")

import halftone_watch  # noqa: E402
from halftone_watch import lease, record_layout, run_folder  # noqa: E402
from halftone_watch.record_writer import RecordWriter  # noqa: E402
from halftone_watch.scale_watch import ScaleWatch  # noqa: E402

NUMBER = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

SLOW_WRITER = """
import sys, time, halftone_watch
watch = halftone_watch.Watch(sys.argv[1], metrics=["accuracy"])
for step in range(1, int(sys.argv[2]) + 1):
    watch.step(1 / step, samples=8, accuracy=0.5, lr=0.1, loss_scale=1024.0)
    time.sleep(float(sys.argv[3]))
print("written", flush=True)
"""


def published_rows(folder):
    """The count of published rows."""
    with open(folder / record_layout.FILE_NAME, "rb") as file:
        file.seek(record_layout.PUBLISHED_OFFSET)
        return struct.unpack("<q", file.read(8))[0]


def value(text):
    return NUMBER.get(text, text) if isinstance(text, str) else text


class Record(support.FolderTest):
    """The file of the steps."""

    def test_its_header_is_the_one_that_the_program_writes(self):
        for metrics, settings in ((0, ["dataset.kind=spirals", "model.kind=mlp"]),
                                  (1, ["dataset.kind=text-generated", "model.kind=rnn-lm"])):
            run = self.scratch / f"own{metrics}"
            sets = [word for each in settings + ["max_steps=1", "batch_size=4"]
                    for word in ("--set", each)]
            self.halftone("train", *sets, "--out", run)
            own = bytearray((run / "steps.rec").read_bytes()[:record_layout.PAGE_BYTES])
            own[24:32] = bytes(8)  # the count of rows
            self.assertEqual(bytes(own), record_layout.header(metrics))

    def write(self, rows, metrics):
        """Rows with every kind of number, in pieces of several lengths, over three chunks."""
        dice = numpy.random.default_rng(7)
        table = numpy.zeros(rows, numpy.dtype(list(record_layout.columns(metrics))))
        for name, kind in record_layout.columns(metrics):
            if kind.startswith("<f"):
                table[name] = dice.normal(size=rows) * 10.0 ** dice.integers(-30, 30, rows)
                table[name][dice.random(rows) < 0.1] = math.nan
                table[name][dice.random(rows) < 0.05] = math.inf
                table[name][dice.random(rows) < 0.05] = -math.inf
            else:
                table[name] = dice.integers(0, 2 if kind == "u1" else 1 << 30, rows)
        table["step"] = numpy.arange(1, rows + 1)
        folder = run_folder.RunFolder(self.folder)
        folder.write_settings({"origin": {"program": "test"}})
        writer = RecordWriter(folder.path, metrics, synced=False)
        listed = [{"key": f"m{i}"} for i in range(1, metrics + 1)]
        folder.append({"event": "start", "run": "run", "config": {},
                       "origin": {"program": "test"}, "metrics": listed, "step_metrics": listed})
        written = 0
        while written < rows:
            piece = int(dice.integers(1, 400))
            writer.append(table[written:written + piece].tolist())
            written += piece
        writer.close()
        folder.append({"event": "done", "run": "run", "reason": "epochs", "steps": rows})
        folder.close()
        return table

    def expect_equal(self, table, steps, metrics):
        self.assertEqual(len(steps), len(table))
        names = [(f"m{name[7:]}" if name.startswith("metric_") else name, name)
                 for name, _ in record_layout.columns(metrics) if name != "accuracy"]
        for row, step in zip(table, steps):
            for shown, name in names:
                kind = row[name].dtype
                if kind.kind == "f" and math.isnan(row[name]) and shown not in step:
                    continue  # a value that was not measured is omitted
                read = value(step[shown])
                equal = kind.type(read) == row[name] or (
                    kind.kind == "f" and math.isnan(read) and math.isnan(row[name]))
                self.assertTrue(equal, f"{name} of step {row['step']}: {read}, not {row[name]}")

    def test_every_value_is_read_back_as_it_was_given(self):
        table = self.write(2000, 2)
        self.expect_equal(table, self.steps(), 2)

    def test_every_value_is_read_back_by_polling(self):
        table = self.write(1100, 0)
        self.expect_equal(table, self.steps("--poll"), 0)


class Events(support.FolderTest):
    """Events are reported as the program reports its own."""

    def test_growths_and_skips_of_the_scale_are_those_of_a_run_of_the_program(self):
        sets = ["dataset.kind=spirals", "model.kind=mlp", "max_steps=300", "batch_size=32",
                "scaler.init_scale=1073741824", "scaler.growth_interval=7"]
        self.halftone("train", *[word for each in sets for word in ("--set", each)], "--out",
                      self.folder)
        events = self.watched()
        told = [event for event in events if event["event"] == "scale"]
        steps = [event for event in events if event["event"] == "step"]
        self.assertGreater(sum(event["kind"] != "grown" for event in told), 5)
        watch = ScaleWatch()
        ours = [watch.see("run", row["step"], value(row["loss"]), row["loss_scale"],
                          row["found_inf"], after["loss_scale"])
                for row, after in zip(steps, steps[1:])]
        self.assertEqual([event for event in ours if event], [
            event for event in told if event["step"] < steps[-1]["step"]])

    def test_a_scale_that_falls_for_ever_is_persistent(self):
        watch = ScaleWatch()
        kinds = [watch.see("run", i, 1.0, 2.0 ** -i, True, 2.0 ** -(i + 1))["kind"]
                 for i in range(20)]
        self.assertEqual(kinds, ["skipped_calibrating"] * 15 + ["skipped_persistent"] * 5)
        high = ScaleWatch()
        kinds = [high.see("run", i, 1.0, 2.0 ** -i, True, 2.0 ** -(i + 1))["kind"]
                 for i in range(-40, 3)]
        self.assertEqual(kinds, ["skipped_calibrating"] * 39 + ["skipped_persistent"] * 4)
        lost = watch.see("run", 21, math.nan, 1.0, True, 0.5)
        self.assertEqual((lost["kind"], lost["loss"]), ("skipped_persistent", "nan"))

    def test_an_epoch_holds_the_mean_loss_and_the_given_figures(self):
        with halftone_watch.Watch(self.folder, metrics=["accuracy", "rmse"]) as watch:
            watch.step(1.0, samples=30)
            watch.step(4.0, samples=10)
            watch.epoch(test_loss=0.5, test_accuracy=0.75, test_rmse=2.0)
        epoch = [event for event in self.watched() if event["event"] == "epoch"][0]
        self.assertEqual(epoch["train_loss"], 1.75)
        self.assertEqual((epoch["test_loss"], epoch["test_accuracy"], epoch["test_rmse"]),
                         (0.5, 0.75, 2.0))

    def test_what_is_no_figure_is_one_warning_and_the_training_goes_on(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with halftone_watch.Watch(self.folder, metrics=["accuracy"]) as watch:
                for _ in range(3):
                    watch.step(1.0, another=2.0, samples=4)
                watch.step("text", samples="many", epoch="first")
                watch.step(numpy.zeros(3), accuracy=[1, 2])
                watch.step(None)
                watch.step(1e400, samples=4)
                watch.step(3.0, accuracy=0.5, samples=4)
                watch.epoch(test_loss="best", test_accuracy=None, tast_loss=1.0)
        self.assertEqual([str(each.message).split(" of step")[0] for each in told],
                         ["halftone_watch: another is left out; name the metrics in Watch(metrics=...)",
                          "halftone_watch: loss", "halftone_watch: metric accuracy",
                          "halftone_watch: test_loss is no number (str); it is left out",
                          "halftone_watch: tast_loss is left out; give test_KEY, train_KEY or "
                          "validation_KEY of a metric that Watch(metrics=...) names"])
        steps = self.steps()
        self.assertEqual([value(step.get("loss", "nan")) for step in steps][-2:], [math.inf, 3.0])
        self.assertEqual(sum("loss" not in step or step["loss"] == "nan" for step in steps), 3)
        self.assertEqual(steps[-1]["samples"], 20)
        epoch = [event for event in self.watched() if event["event"] == "epoch"][0]
        self.assertEqual(epoch["train_loss"], "inf")
        self.assertNotIn("test_loss", epoch)

    def test_a_loss_that_is_missing_has_not_diverged(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with halftone_watch.Watch(self.folder) as watch:
                for _ in range(5):
                    watch.step(None, loss_scale=8.0, found_inf=True)
        self.assertNotIn("diverged_at", self.watched()[-1])
        kinds = {event["kind"] for event in self.watched() if event["event"] == "scale"}
        self.assertEqual(kinds, {"skipped_calibrating"})


class Ends(support.FolderTest):
    """How a run ends, and how the program reports that."""

    def state(self, folder=None):
        out, _ = self.halftone("show", folder or self.folder, "--json")
        return json.loads(out.splitlines()[0])["state"]

    def end_with(self, error):
        with self.assertRaises(type(error)):
            with halftone_watch.Watch(self.folder) as watch:
                watch.step(1.0)
                raise error

    def test_a_block_that_ends_is_done(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
        self.assertEqual(self.state(), "done")

    def test_an_exception_is_a_failure_with_its_words(self):
        self.end_with(RuntimeError("out of patience"))
        self.assertEqual(self.state(), "failed")
        self.watched(code=5)
        self.assertIn("RuntimeError: out of patience", self.errors)

    def test_control_c_is_a_stop(self):
        self.end_with(KeyboardInterrupt())
        self.assertEqual(self.state(), "stopped")

    def test_a_loss_that_stays_nan_has_diverged(self):
        with halftone_watch.Watch(self.folder) as watch:
            for loss in (1.0, math.nan, math.nan, math.nan):
                watch.step(loss)
        self.assertEqual(self.state(), "diverged")
        self.assertEqual(self.watched()[-1]["diverged_at"], 2)

    def rows_so_far(self):
        """The count of rows of a record that its writer may only begin."""
        try:
            return published_rows(self.folder)
        except (OSError, struct.error):
            return 0

    def test_a_killed_program_leaves_an_interrupted_run_with_its_steps(self):
        child = self.python(SLOW_WRITER + "time.sleep(60)", self.folder, 300, 0.001)
        self.assertEqual(child.stdout.readline(), "written\n")
        deadline = time.monotonic() + support.TIMEOUT
        while self.rows_so_far() < 300 and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        self.assertEqual(self.state(), "interrupted")
        events = self.watched(code=5)
        self.assertEqual(sum(event["event"] == "step" for event in events), 300)
        warnings = [event["message"] for event in events if event["event"] == "warning"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("ended without finishing", warnings[0])

    def test_a_program_that_forgets_to_close_is_done_and_one_with_an_error_failed(self):
        self.python(SLOW_WRITER, self.folder, 5, 0).communicate()
        self.assertEqual(self.state(), "done")
        broken = self.scratch / "broken"
        self.python(SLOW_WRITER + "raise ValueError('no')", broken, 5, 0).communicate()
        self.assertEqual(self.state(broken), "failed")

    def test_a_forked_process_leaves_the_run_alone(self):
        # Python 3.12 and newer warn of a fork where a library has threads, as NumPy may.
        child = self.python(SLOW_WRITER.replace("print", """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)
if os.fork() == 0:
    watch.step(99.0)
    sys.exit()
os.wait()
watch.step(0.5)
print"""), self.folder, 5, 0)
        self.assertEqual(child.communicate(timeout=support.TIMEOUT)[1], "")
        self.assertEqual([step["loss"] for step in self.steps()][-1], 0.5)
        self.assertEqual(len(self.steps()), 6)

    def test_a_full_disk_is_a_warning_and_the_training_goes_on(self):
        child = self.python("""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))
""" + SLOW_WRITER, self.folder, 3000, 0.0003)
        out, errors = child.communicate(timeout=support.TIMEOUT)
        self.assertEqual((child.returncode, out), (0, "written\n"))
        self.assertIn("halftone_watch records no more steps", errors)
        rows = sum(event["event"] == "step" for event in self.watched(code=5))
        self.assertEqual(rows, 512)  # the first chunk, whole

    def test_a_folder_in_use_is_refused_and_an_unused_one_goes(self):
        self.folder.mkdir()
        (self.folder / "thesis.txt").write_text("mine")
        with self.assertRaises(FileExistsError):
            halftone_watch.Watch(self.folder)
        self.assertEqual((self.folder / "thesis.txt").read_text(), "mine")
        halftone_watch.Watch(self.scratch / "unused").close()
        self.assertFalse((self.scratch / "unused").exists())


class Holds(support.FolderTest):
    """Who may write the folder, and who may read it."""

    def setUp(self):
        super().setUp()
        for name in ("RENEWAL", "clock"):
            self.addCleanup(setattr, lease, name, getattr(lease, name))
        lease.RENEWAL = 0.01
        self.now = 1000.0
        lease.clock = lambda: self.now

    def listed(self):
        out, _ = self.halftone("show", self.folder, "--json")
        return json.loads(out.splitlines()[0])

    def lease(self, **changes):
        """The lease of another machine."""
        held = {"id": "x", "host": "node7", "boot": "b", "pid_namespace": 1, "process": 2,
                "started": 3, "renewals": 0, **changes}
        part = self.folder / "lease.part"
        part.write_text(json.dumps(held))
        part.rename(self.folder / "lease.2")

    def test_the_lease_is_renewed_while_nothing_is_recorded_and_gone_at_the_end(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
            file = self.folder / "lease.1"
            before = file.read_text()
            deadline = time.monotonic() + support.TIMEOUT
            while file.read_text() == before and time.monotonic() < deadline:
                time.sleep(0.001)
            self.assertNotEqual(file.read_text(), before)
            self.assertEqual(json.loads(file.read_text())["process"], os.getpid())
            self.assertEqual(self.listed()["state"], "running")
        self.assertEqual(list(self.folder.glob("lease*")), [])
        self.assertEqual(self.listed()["state"], "done")

    def test_a_run_that_was_taken_over_is_written_no_more(self):
        with self.assertWarnsRegex(RuntimeWarning, "another program has taken over this run"):
            with halftone_watch.Watch(self.folder) as watch:
                watch.step(1.0)
                watch._writer.flush()
                self.lease()
                self.now += 61  # as after a sleep
                watch.step(2.0)
        events = (self.folder / "events.jsonl").read_text()
        self.assertNotIn('"done"', events)
        self.assertEqual(published_rows(self.folder), 1)
        self.assertTrue((self.folder / "lease.2").exists())
        self.assertEqual(self.listed()["state"], "running")
        self.assertEqual(self.listed()["host"], "node7")

    def test_a_run_whose_lease_was_removed_is_written_no_more(self):
        with self.assertWarns(RuntimeWarning):
            with halftone_watch.Watch(self.folder) as watch:
                watch.step(1.0)
                watch._writer.flush()
                lease.RENEWAL = 60.0
                time.sleep(0.05)
                self.now += 61
                (self.folder / "lease.1").unlink()
                watch.step(2.0)
        self.assertEqual(published_rows(self.folder), 1)

    def test_a_full_disk_does_not_lose_the_lease(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
            lease.RENEWAL = 60.0
            time.sleep(0.05)
            (self.folder / "lease.1.part").mkdir()  # no file can be written there
            self.now += 61
            watch.step(2.0)
            watch._writer.flush()
            (self.folder / "lease.1.part").rmdir()
        self.assertEqual(self.listed()["state"], "done")
        self.assertEqual(self.listed()["steps"], 2)

    def test_only_its_owner_may_read_it_unless_the_group_shares_its_runs(self):
        self.addCleanup(os.umask, os.umask(0o022))
        for shared, folder, files in (("", 0o700, 0o600), ("group", 0o2770, 0o660)):
            os.environ["HALFTONE_SHARED"] = shared
            self.addCleanup(os.environ.pop, "HALFTONE_SHARED", None)
            path = self.scratch / ("run" + shared)
            with halftone_watch.Watch(path) as watch:
                watch.step(1.0)
                watch._writer.flush()
                modes = {each.name: each.stat().st_mode & 0o7777 for each in path.iterdir()}
            self.assertEqual(path.stat().st_mode & 0o7777, folder)
            self.assertEqual(set(modes), {"lock", "lease.1", "config.json", "events.jsonl",
                                          "steps.rec"})
            self.assertEqual(set(modes.values()), {files}, modes)


class Store(support.FolderTest):
    """The history of the program."""

    def test_a_run_without_a_folder_gets_the_next_number_and_is_listed(self):
        store = self.scratch / ".local" / "share" / "halftone" / "runs"
        for number in ("1", "2"):
            with halftone_watch.Watch(store=store, model="Tiny", dataset="Dots") as watch:
                watch.step(0.25, samples=4)
            self.assertEqual(watch.folder.name, number)
        self.halftone("train", "--set", "dataset.kind=spirals", "--set", "model.kind=mlp", "--set",
                      "max_steps=1")
        table, _ = self.halftone("runs")
        self.assertEqual([line.split()[0] for line in table.splitlines()], ["run", "3", "2", "1"])
        self.assertIn("Dots", table.splitlines()[-1])
        self.assertIn("Tiny", table.splitlines()[-1])

    def test_its_settings_are_no_settings_of_the_program(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
        _, errors = self.halftone("train", self.folder / "config.json", code=2)
        self.assertIn("origin", errors)


class Live(support.FolderTest):
    """A run that is read while it is being written."""

    def follow(self, *args):
        child = self.python(SLOW_WRITER, self.folder, 1500, 0.001)
        try:
            steps = self.steps(*args)
        finally:
            child.communicate(timeout=support.TIMEOUT)
        self.assertEqual([step["step"] for step in steps], list(range(1, 1501)))
        single = struct.Struct("<f")
        for step in steps:
            rounded = single.unpack(single.pack(1 / step["step"]))[0]
            self.assertEqual(single.unpack(single.pack(step["loss"]))[0], rounded)

    def test_a_mapped_record_grows_under_its_reader(self):
        self.follow()

    def test_a_polled_record_grows_under_its_reader(self):
        self.follow("--poll")


class Damage(support.FolderTest):
    """Inconsistent folders are rejected with a sentence."""

    def setUp(self):
        super().setUp()
        with halftone_watch.Watch(self.folder, metrics=["accuracy"]) as watch:
            for _ in range(100):
                watch.step(1.0, samples=4)
        self.record = self.folder / "steps.rec"

    def patch(self, at, data):
        with open(self.record, "r+b") as file:
            file.seek(at)
            file.write(data)

    def refused(self, words, *args):
        self.watched(*args, code=3)
        self.assertIn(words, self.errors)

    def test_a_count_above_what_the_file_holds(self):
        for count in (100_000, 1 << 40, (1 << 62) + 5):
            self.patch(24, struct.pack("<q", count))
            self.refused("too short for its")

    def test_a_record_that_was_cut(self):
        os.truncate(self.record, self.record.stat().st_size - 1)
        self.refused("too short for its")

    def test_columns_longer_than_the_file(self):
        header = bytearray(record_layout.header(0))
        for column in range(len(record_layout.columns(0))):
            header[40 + 24 * column + 23] = 1  # eight bytes each
        struct.pack_into("<Q", header, 16, 0)
        struct.pack_into("<Q", header, 16, record_layout._fnv1a(bytes(header[:3112])))
        struct.pack_into("<q", header, 24, 500)
        self.patch(0, header)
        self.refused("too short for its")
        os.truncate(self.record, 1 << 20)
        self.refused("has another type")

    def test_events_that_are_no_file_or_have_no_end(self):
        events = self.folder / "events.jsonl"
        text = events.read_bytes()
        events.write_bytes(text + b"x" * (3 << 20))
        self.refused("longer than 1 MiB")
        events.unlink()
        os.mkfifo(events)
        self.refused("not a plain file")

    def test_origins_of_any_kind_are_cut_or_left_out(self):
        events = self.folder / "events.jsonl"
        lines = events.read_text().splitlines()
        start = json.loads(lines[1])
        start["origin"] = {"program": "p" * 100_000, "model": "\x1b[31m\n", "shares_every": -5,
                           "settings": {str(i): {"deep": [i]} for i in range(5000)}}
        lines[1] = json.dumps(start)
        events.write_text("\n".join(lines) + "\n")
        read = self.watched()[0]["origin"]
        self.assertEqual((len(read["program"]), read["model"], read["shares_every"],
                          len(read["settings"])), (400, " [31m ", 0, 200))
        start["origin"] = {"model": 5}
        lines[1] = json.dumps(start)
        events.write_text("\n".join(lines) + "\n")
        self.assertNotIn("start", [event["event"] for event in self.watched()])


class Replaced(support.FolderTest):
    """Files that change under a reader in ways in which no writer changes them."""

    def change(self, act, words):
        for args in ([], ["--poll"]):
            self.change_once(act, words, args)
            shutil.rmtree(self.folder)

    def change_once(self, act, words, args):
        child = self.python(SLOW_WRITER + "time.sleep(60)", self.folder, 10, 0)
        self.assertEqual(child.stdout.readline(), "written\n")
        follower = self.python("import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], timeout=60).returncode)",
                               support.arguments.halftone, "watch", self.folder, "--json", *args)
        while '"step":10' not in (line := follower.stdout.readline()):
            self.assertTrue(line, "the reader ended before it had read all steps")
        act()
        _, errors = follower.communicate(timeout=support.TIMEOUT)
        child.kill()
        child.communicate()
        self.assertIn(words, errors)

    def test_a_column_of_another_name(self):
        def act():
            with open(self.folder / "steps.rec", "r+b") as file:
                file.seek(40)
                file.write(b"pets")
            self.touch_count()
        self.change(act, "replaced, removed or cut short")

    def test_a_record_with_fewer_rows(self):
        self.change(lambda: self.touch_count(3), "replaced, removed or cut short")

    def test_a_folder_that_is_gone(self):
        self.change(lambda: (self.folder / "steps.rec").unlink(), "replaced, removed or cut short")

    def test_other_events(self):
        def act():
            (self.folder / "events.jsonl").unlink()
            (self.folder / "events.jsonl").write_text("{}\n")
        self.change(act, "replaced or cut short the events")

    def touch_count(self, count=11):
        with open(self.folder / "steps.rec", "r+b") as file:
            file.seek(24)
            file.write(struct.pack("<q", count))


if __name__ == "__main__":
    support.main()
