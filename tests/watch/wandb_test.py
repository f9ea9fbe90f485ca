"""Scripts that call wandb, with halftone_watch.wandb in its place; where wandb is installed, the same
script with it too, offline."""

import importlib.util
import os
import subprocess
import sys
import unittest
import warnings

import support

numpy = support.need("numpy")

import halftone_watch  # noqa: E402
import halftone_watch.wandb as wandb  # noqa: E402

SCRIPT = """
import argparse, math, sys
wandb = __import__(sys.argv[1], fromlist=["init"])
run = wandb.init(project="spirals", name="first", config={"lr": 0.5, "batch_size": 8})
wandb.config.update({"layers": 2})
assert run.config.lr == wandb.config["lr"] == 0.5 and wandb.config.layers == 2
wandb.define_metric("val/acc", summary="max")
for epoch in range(3):
    for batch in range(4):
        wandb.log({"train/loss": 1 / (1 + epoch), "train/acc": 0.5, "lr": 0.5 / (1 + batch),
                   "epoch": epoch})
    wandb.log({"val/loss": 2 / (1 + epoch), "val/acc": 0.25 * epoch, "epoch": epoch + 1})
wandb.finish()
"""


class Wandb(support.FolderTest):
    """Calls of wandb as the run has them."""

    def run_script(self, module):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, module], check=False, capture_output=True, text=True,
            timeout=support.TIMEOUT, cwd=self.scratch,
            env={"PATH": os.environ["PATH"], "HOME": str(self.scratch), "WANDB_SILENT": "true",
                 "WANDB_MODE": "offline", "PYTHONPATH": str(support.PACKAGE)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")

    def test_a_script_is_a_run_of_the_history(self):
        self.run_script("halftone_watch.wandb")
        run = halftone_watch.read(self.scratch / ".local/share/halftone/runs/1")
        self.assertEqual(run.columns["loss"].tolist(),
                         numpy.float32([1, 1, 1, 1, .5, .5, .5, .5] + [1 / 3] * 4).tolist())
        self.assertEqual(run.columns["lr"].tolist(),
                         numpy.float32([.5, .25, .5 / 3, .125] * 3).tolist())
        self.assertEqual(run.columns["accuracy"].tolist(), [.5] * 12)
        self.assertEqual(run.columns["epoch"].tolist(), [0] * 4 + [1] * 4 + [2] * 4)
        self.assertEqual([(each["step"], each["validation_loss"], each["validation_accuracy"])
                          for each in run.epochs],
                         [(4, 2.0, 0.0), (8, 1.0, 0.25), (12, 2 / 3, 0.5)])
        self.assertEqual(run.settings["origin"]["settings"],
                         {"lr": 0.5, "batch_size": 8, "layers": 2})
        self.folder = self.scratch / ".local/share/halftone/runs/1"
        self.assertEqual(self.watched()[-1]["validation_accuracy"], 0.5)

    @unittest.skipUnless(importlib.util.find_spec("wandb"), "wandb is not installed")
    def test_the_same_script_runs_with_wandb_offline(self):
        self.run_script("wandb")
        self.assertTrue(list((self.scratch / "wandb").glob("offline-run-*")))

    def test_a_step_is_over_when_it_is_committed_or_a_higher_one_begins(self):
        run = wandb.init(folder=self.folder, batch_size=4)
        run.log({"loss": 8.0}, commit=False)
        run.log({"lr": 0.5, "loss_scale": 1024, "found_inf": True})
        run.log({"loss": 4.0}, step=5)
        run.log({"grad_norm": numpy.float32(3.0)}, step=5)
        run.log({"nested": {"speed": 7}, "loss": 2.0}, step=9)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run.log({"loss": 1.0}, step=3)
            run.log({"picture": object()}, step=9)
            wandb.finish()
        self.assertEqual([str(each.message).split(": ", 1)[1] for each in told],
                         ["step 3 is behind 9; left out", "picture is no number; left out",
                          "nested_speed is left out; name the metrics in Watch(metrics=...)"])
        columns = halftone_watch.read(self.folder).columns
        self.assertEqual(columns["loss"].tolist(), [8, 4, 2])
        self.assertEqual(columns["found_inf"].tolist(), [1, 0, 0])
        self.assertEqual(columns["loss_scale"].tolist()[0], 1024)
        self.assertEqual(columns["grad_norm"].tolist()[1], 3)
        self.assertEqual(columns["samples"].tolist(), [4, 8, 12])
        self.assertEqual(run.summary["loss"], 2.0)

    def test_more_metrics_than_a_record_holds_are_told_and_left_out(self):
        run = wandb.init(folder=self.folder)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run.log({"loss": 1.0, **{f"m{i}": i for i in range(12)}})
            run.finish()
        self.assertEqual(len({str(each.message) for each in told}), 4)
        self.assertEqual(halftone_watch.read(self.folder).columns["m7"].tolist(), [7])

    def test_a_disabled_run_writes_nothing(self):
        with wandb.init(folder=self.folder, mode="disabled") as run:
            run.log({"loss": 1.0, "acc": 0.5})
            run.log({"val_loss": 1.0})
        self.assertEqual((run.dir, self.folder.exists()), ("", False))

    def test_an_error_in_its_block_is_a_failed_run(self):
        with self.assertRaises(ValueError):
            with wandb.init(folder=self.folder) as run:
                run.log({"loss": 1.0})
                raise ValueError("no")
        self.watched(code=5)
        self.assertIn("ValueError: no", self.errors)

    def test_names_of_other_programs(self):
        from halftone_watch.figure_names import parsed
        for name, part, key in (("train_loss_step", "train", "loss"), ("Loss/train", "train", "loss"),
                                ("eval_accuracy", "test", "accuracy"), ("val/acc", "validation", "accuracy"),
                                ("learning_rate", "", "lr"), ("train/grad-norm", "train", "grad_norm"),
                                ("epoch", "", "epoch"), ("train/epoch", "train", "epoch"),
                                ("train/global_step", "train", "global_step"), ("test", "", "test"), ("42", "", "")):
            self.assertEqual(tuple(parsed(name)), (part, key), name)


if __name__ == "__main__":
    support.main()
