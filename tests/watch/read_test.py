"""read() against the program: what it exports of a run is what the package reads."""

import csv
import json
import math
import os
from unittest import mock

import support

numpy = support.need("numpy")

import halftone_watch  # noqa: E402
from halftone_watch import record_layout  # noqa: E402

WORDS = {"true": 1.0, "false": 0.0}


class Read(support.FolderTest):
    """Runs of the program, and of the package itself."""

    def train(self, *settings):
        sets = [word for each in settings for word in ("--set", each)]
        self.halftone("train", *sets, "--out", self.folder)
        return halftone_watch.read(self.folder)

    def expect_exported(self, run):
        """Each cell of the exported table; an empty one is NaN or 0 in the record."""
        table = self.scratch / "steps.csv"
        self.halftone("export", self.folder, "--to", "csv", "-o", table)
        with open(table, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual(len(rows), len(run.columns["step"]))
        for name in rows[0]:
            if name not in run.columns:  # of a run of several ranks
                self.assertEqual({row[name] for row in rows}, {""}, name)
                continue
            column = run.columns[name]
            for row, value in zip(rows, column):
                if row[name]:
                    told = column.dtype.type(float(WORDS.get(row[name], row[name])))
                    self.assertTrue(told == value or math.isnan(told) and math.isnan(value),
                                    f"{name} of step {row['step']}: {value}, not {row[name]}")
                elif column.dtype.kind == "f":
                    self.assertTrue(math.isnan(value), name)

    def test_a_run_of_the_program_has_the_figures_that_it_exports(self):
        run = self.train("dataset.kind=spirals", "model.kind=mlp", "epochs=20", "max_steps=700",
                         "batch_size=100", "precision.preset=amp-fp16",
                         "scaler.init_scale=1e12", "scaler.growth_interval=50")
        self.expect_exported(run)
        self.assertEqual(run.settings["batch_size"], 100)
        told = [event for event in self.watched() if event["event"] == "step"]
        skips = [event["step"] for event in told if event["found_inf"]]
        self.assertGreater(len(skips), 3)
        self.assertEqual(run.skipped.tolist(), skips)
        # The last evaluation is that of the step limit, within an epoch.
        self.assertEqual([epoch["step"] for epoch in run.epochs][-1], 700)
        self.assertGreater(run.epochs[-1]["test_accuracy"], 0)

    def test_metrics_are_found_by_their_keys(self):
        run = self.train("dataset.kind=text-generated", "model.kind=rnn-lm", "max_steps=20",
                         "model.options.embedding=16", "model.options.hidden=16",
                         "precision.preset=fp32")
        self.expect_exported(run)
        self.assertIn("perplexity", run.columns)

    def test_a_run_that_goes_on_is_read_as_far_as_it_has_come(self):
        with halftone_watch.Watch(self.folder, metrics=["accuracy", "rmse"]) as watch:
            for step in range(1, 1201):
                watch.step(1 / step, samples=8, rmse=math.inf if step == 7 else step)
            watch.epoch(test_loss=math.nan)
            watch._writer.flush()
            run = halftone_watch.read(self.folder)
            self.assertEqual(run.columns["step"].tolist(), list(range(1, 1201)))
            self.assertEqual(run.columns["rmse"][6], math.inf)
            self.assertEqual(run.columns["rmse"][1199], 1200)
            self.assertTrue(numpy.isnan(run.columns["accuracy"]).all())
            self.assertTrue(math.isnan(run.epochs[0]["test_loss"]))
            watch.step(0.5)
        self.assertEqual(len(halftone_watch.read(self.folder).columns["loss"]), 1201)

    def test_a_number_is_a_run_of_the_history(self):
        with mock.patch.dict(os.environ, XDG_DATA_HOME=str(self.scratch)):
            with halftone_watch.Watch() as watch:
                watch.step(2.0)
            for name in (1, "1"):
                self.assertEqual(halftone_watch.read(name).columns["loss"].tolist(), [2.0])

    def test_a_damaged_record_is_refused(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
        file = self.folder / record_layout.FILE_NAME
        whole = file.read_bytes()
        for place in (0, 8, 12, 16, 32, 41):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
            with self.assertRaises(ValueError):
                halftone_watch.read(self.folder)
        file.write_bytes(whole[:5000])
        with self.assertRaises(ValueError):
            halftone_watch.read(self.folder)

    def test_events_of_steps_that_were_taken_back_are_left_out(self):
        with halftone_watch.Watch(self.folder) as watch:
            watch.step(1.0)
            watch.step(1.0)
            watch.epoch(test_loss=1.0)
        events = self.folder / "events.jsonl"
        with open(events, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": "resumed", "run": "run", "step": 1}) + "\n")
            file.write(json.dumps({"event": "epoch", "run": "run", "epoch": 1, "step": 2,
                                   "test_loss": "inf"}) + "\n{\"event\": \"ep")
        run = halftone_watch.read(self.folder)
        self.assertEqual([epoch["test_loss"] for epoch in run.epochs], [math.inf])

    def test_a_frame_has_the_step_as_its_index(self):
        try:
            __import__("pandas")
        except ImportError as error:
            self.skipTest(str(error))
        with halftone_watch.Watch(self.folder, metrics=["accuracy"]) as watch:
            watch.step(2.0, loss_scale=8.0, found_inf=True)
            watch.step(1.0, loss_scale=4.0, accuracy=0.5)
        frame = halftone_watch.read(self.folder).frame()
        self.assertEqual(frame.loc[2, "loss"], 1.0)
        self.assertEqual(frame.index.name, "step")
        self.assertEqual(frame["found_inf"].tolist(), [True, False])
        self.assertEqual(frame[~frame["found_inf"]]["accuracy"].tolist(), [0.5])


if __name__ == "__main__":
    support.main()
