"""Trainings by Lightning and by Hugging Face's Trainer with one line more. On a CPU neither scales a
loss by itself, so both are given a scaler, as they have one on a GPU."""

import importlib
import logging
import math
import sys
import unittest
import warnings

import support

numpy = support.need("numpy")
torch = support.need("torch")

import halftone_watch  # noqa: E402

torch.set_num_threads(1)
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def scaler():
    return torch.amp.GradScaler("cpu", init_scale=2.0 ** 23, growth_interval=8)


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def samples(count=96):
    dice = torch.Generator().manual_seed(5)
    x = torch.randn(count, 20, generator=dice)
    return x, x[:, :5].argmax(1)


class Expected:
    """The results of PyTorch's own scaler, noted at each of its updates."""

    def __init__(self, watched):
        self.scales, self.skips, update = [], [], watched.update

        def noted(*args):
            self.scales.append(watched.get_scale())
            update(*args)
            self.skips.append(watched.get_scale() < self.scales[-1])

        watched.update = noted


def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5))


class Scaled(support.FolderTest):
    """Expectations of both."""

    def expect(self, run, expected, steps, optimizer="AdamW"):
        self.assertEqual(len(run.columns["step"]), steps)
        self.assertEqual(run.columns["loss_scale"].tolist(), expected.scales)
        self.assertEqual((run.columns["found_inf"] != 0).tolist(), expected.skips)
        self.assertGreater(sum(expected.skips), 2)
        self.assertGreater(len(set(expected.scales)), 3)
        self.assertEqual(run.settings["precision"], {"preset": "amp-fp16"})
        self.assertEqual(run.settings["scaler"]["growth_interval"], 8)
        self.assertEqual(run.settings["origin"]["optimizer"], optimizer)
        self.assertTrue(numpy.isfinite(run.columns["loss"]).all())
        self.assertGreater(run.columns["grad_norm"][~numpy.array(expected.skips)].min(), 0)
        self.assertEqual(self.watched()[-1]["skipped"], sum(expected.skips))


def lightning_tests(name):
    pl = installed(name)

    @unittest.skipUnless(pl, f"{name} is not installed")
    class Lightning(Scaled):
        """A training by one of Lightning's names."""

        def module(self, losses, fails_at=None):
            class Module(pl.LightningModule):
                """Three epochs of six batches, each validated."""

                def __init__(self):
                    super().__init__()
                    self.save_hyperparameters({"width": 64})
                    self.net = net()

                def training_step(self, batch, index):
                    if self.global_step == fails_at:
                        raise RuntimeError("out of patience")
                    out = self.net(batch[0])
                    loss = torch.nn.functional.cross_entropy(out.float(), batch[1])
                    losses.append(loss.item())
                    self.log("train_acc", (out.argmax(1) == batch[1]).float().mean())
                    return loss

                def validation_step(self, batch, index):
                    out = self.net(batch[0]).float()
                    self.log("val_loss", torch.nn.functional.cross_entropy(out, batch[1]))
                    self.log("val_acc", (out.argmax(1) == batch[1]).float().mean())

                def configure_optimizers(self):
                    return torch.optim.AdamW(self.parameters(), lr=0.01)

            return Module()

        def fit(self, losses, accumulate=1, **options):
            callbacks = importlib.import_module("halftone_watch.lightning")
            plugins = importlib.import_module(name + ".plugins")
            own = scaler()
            expected = Expected(own)
            loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*samples()),
                                                 batch_size=16)
            trainer = pl.Trainer(
                max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                enable_progress_bar=False, enable_model_summary=False,
                accumulate_grad_batches=accumulate,
                plugins=[plugins.MixedPrecision("16-mixed", "cpu", own)],
                callbacks=[callbacks.HalftoneCallback(self.folder)])
            trainer.fit(self.module(losses, **options), loader, loader)
            return expected

        def test_scaler_skips_and_precision_are_found(self):
            losses = []
            expected = self.fit(losses)
            run = halftone_watch.read(self.folder)
            self.expect(run, expected, 18)
            self.assertEqual(run.columns["loss"].tolist(), numpy.float32(losses).tolist())
            self.assertEqual(run.columns["samples"].tolist(), [16 * i for i in range(1, 19)])
            self.assertTrue((run.columns["accuracy"] >= 0).all())
            self.assertEqual([each["step"] for each in run.epochs], [6, 12, 18])
            self.assertTrue(all(math.isfinite(each["validation_loss"]) and each["epoch_ended"]
                                if "epoch_ended" in each else True for each in run.epochs))
            self.assertIn("validation_accuracy", run.epochs[-1])
            self.assertEqual(run.settings["origin"]["settings"]["width"], 64)
            self.assertEqual(run.settings["origin"]["model"], "Module")

        def test_an_accumulated_step_has_the_mean_of_its_batches(self):
            losses = []
            self.fit(losses, accumulate=2)
            run = halftone_watch.read(self.folder)
            means = [(a + b) / 2 for a, b in zip(losses[::2], losses[1::2])]
            self.assertEqual(len(run.columns["loss"]), 9)
            # Two halves and their sum in f32.
            numpy.testing.assert_allclose(run.columns["loss"], means, rtol=3 * 2.0 ** -24)
            self.assertEqual(run.columns["samples"].tolist()[:2], [32, 64])

        def test_an_exception_is_a_failed_run(self):
            with self.assertRaises(RuntimeError):
                self.fit([], fails_at=2)
            self.watched(code=5)
            self.assertIn("RuntimeError: out of patience", self.errors)

    return Lightning


LightningTest = lightning_tests("lightning.pytorch")
PytorchLightningTest = lightning_tests("pytorch_lightning")
transformers = installed("transformers")
accelerate = installed("accelerate")


@unittest.skipUnless(transformers and accelerate, "transformers or accelerate is not installed")
class Transformers(Scaled):
    """A training by Hugging Face's Trainer."""

    def fit(self, losses, returns_loss=True, accumulate=1):
        from halftone_watch.transformers import HalftoneCallback

        class Model(torch.nn.Module):
            """A model that returns its loss, or leaves it to the Trainer."""

            def __init__(self):
                super().__init__()
                self.net = net()

            def forward(self, x=None, labels=None):
                with torch.autocast("cpu", torch.float16):
                    out = self.net(x).float()
                loss = torch.nn.functional.cross_entropy(out, labels)
                if self.training:
                    losses.append(loss.item())
                return {"loss": loss, "logits": out} if returns_loss else {"mine": loss, "logits": out}

        class Trainer(transformers.Trainer):
            """With a loss of its own."""

            def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
                out = model(**inputs)
                return (out["mine"], out) if return_outputs else out["mine"]

        x, y = samples()
        rows = [{"x": a, "labels": b} for a, b in zip(x, y)]
        arguments = transformers.TrainingArguments(
            str(self.scratch / "out"), num_train_epochs=3, per_device_train_batch_size=16,
            per_device_eval_batch_size=96, learning_rate=0.01, use_cpu=True, report_to=[],
            eval_strategy="epoch", save_strategy="no", logging_steps=1, disable_tqdm=True,
            max_grad_norm=0, gradient_accumulation_steps=accumulate)
        trainer = (transformers.Trainer if returns_loss else Trainer)(
            Model(), arguments, train_dataset=rows, eval_dataset=rows,
            compute_metrics=lambda each: {"accuracy": float(
                (each.predictions.argmax(-1) == each.label_ids).mean())} if returns_loss else {})
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.accelerator.scaler = scaler()
        expected = Expected(trainer.accelerator.scaler)
        trainer.add_callback(HalftoneCallback(self.folder, metrics=["accuracy"]))
        trainer.train()
        return expected

    def test_scaler_skips_and_precision_are_found(self):
        losses = []
        expected = self.fit(losses)
        run = halftone_watch.read(self.folder)
        self.expect(run, expected, 18)
        self.assertEqual(run.columns["loss"].tolist(), numpy.float32(losses).tolist())
        self.assertEqual([each["step"] for each in run.epochs], [6, 12, 18])
        self.assertTrue(all(math.isfinite(each["test_loss"]) for each in run.epochs))
        self.assertGreater(run.epochs[-1]["test_accuracy"], 0)
        self.assertEqual(run.settings["origin"]["settings"]["learning_rate"], 0.01)

    def test_a_loss_of_the_trainer_is_the_one_that_it_logs(self):
        losses = []
        expected = self.fit(losses, returns_loss=False)
        run = halftone_watch.read(self.folder)
        self.expect(run, expected, 18)
        # The Trainer rounds to four decimals, or to as many digits.
        numpy.testing.assert_allclose(run.columns["loss"], losses, atol=1e-4)

    def test_an_accumulated_step_has_the_mean_of_its_batches(self):
        losses = []
        self.fit(losses, accumulate=2)
        run = halftone_watch.read(self.folder)
        means = [(a + b) / 2 for a, b in zip(losses[::2], losses[1::2])]
        numpy.testing.assert_allclose(run.columns["loss"], means, rtol=3 * 2.0 ** -24)


if __name__ == "__main__":
    if not (installed("lightning") or installed("pytorch_lightning") or transformers):
        print("skipped: neither Lightning nor transformers is installed")
        sys.exit(support.SKIPPED)
    support.main()
