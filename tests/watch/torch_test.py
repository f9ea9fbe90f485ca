"""A real PyTorch training with a GradScaler, watched: what is recorded is what PyTorch has."""

import contextlib
import copy
import functools
import io
import json
import math
import pickle
import unittest
import warnings
import weakref

import support

numpy = support.need("numpy")
torch = support.need("torch")

import halftone_watch  # noqa: E402
from halftone_watch import gradient_census, reading  # noqa: E402

STEPS = 60


def make(seed=3, widths=(20, 64, 5), dtype=torch.float32, device="cpu"):
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(widths[0], widths[1]), torch.nn.ReLU(),
              torch.nn.Linear(widths[1], widths[2])]
    return torch.nn.Sequential(*layers).to(device=device, dtype=dtype)


def batches(count, device="cpu"):
    dice = torch.Generator().manual_seed(5)
    for _ in range(count):
        x = torch.randn(32, 20, generator=dice)
        yield x.to(device), x[:, :5].argmax(1).to(device)


def loss_of(model, x, y, autocast=torch.float16):
    kind = x.device.type
    region = torch.autocast(kind, autocast) if autocast else contextlib.nullcontext()
    with region:
        return torch.nn.functional.cross_entropy(model(x).float(), y)


def single(number):
    return float(numpy.float32(number))


#: Before 2.3 a GradScaler is for GPUs alone, and so is autocast to f16.
needs_scaler = unittest.skipUnless(hasattr(torch.amp, "GradScaler"), "this PyTorch scales on a GPU only")


def disabled_scaler():
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cpu", enabled=False)
    return torch.cuda.amp.GradScaler(enabled=False)


@needs_scaler
class Scaled(support.FolderTest):
    """With a GradScaler, in f16 autocast on the CPU. The scale starts so high that steps are
    skipped, and it soon grows."""

    def scaler(self):
        return torch.amp.GradScaler("cpu", init_scale=2.0 ** 23, growth_interval=8)

    def train(self, model, optimizer, scaler, watch, clip=False, seen=None):
        """A training that records the results of PyTorch's own calls in each step."""
        for x, y in batches(STEPS):
            optimizer.zero_grad()
            loss = loss_of(model, x, y)
            scaler.scale(loss).backward()
            told = {"loss": loss.item(), "loss_scale": scaler.get_scale(),
                    "lr": optimizer.param_groups[0]["lr"],
                    "grads": [p.grad.clone() for p in model.parameters()]}
            if clip:
                scaler.unscale_(optimizer)
                told["grad_norm"] = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1).item()
            before = [p.detach().clone() for p in model.parameters()]
            scaler.step(optimizer)
            scaler.update()
            told["applied"] = any(not torch.equal(p, q)
                                  for p, q in zip(before, model.parameters()))
            told["growth_tracker"] = scaler.state_dict()["_growth_tracker"]
            optimizer.param_groups[0]["lr"] *= 0.99
            watch.step(loss, samples=len(x))
            if seen is not None:
                seen.append(told)

    def watched_training(self, clip=False, fused=False, **options):
        model = make()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=fused)
        scaler, seen = self.scaler(), []
        with halftone_watch.Watch(self.folder, optimizer=optimizer, scaler=scaler, model=model,
                                  **options) as watch:
            self.train(model, optimizer, scaler, watch, clip, seen)
        return seen, self.steps()

    def expect_same(self, seen, steps):
        self.assertEqual(len(steps), STEPS)
        applied = 0
        for told, step in zip(seen, steps):
            applied += told["applied"]
            for name in ("loss", "loss_scale", "lr", "growth_tracker"):
                self.assertEqual(single(step[name]), single(told[name]), name)
            self.assertEqual(step["found_inf"], not told["applied"])
            self.assertEqual(step["updates"], applied)
            self.assertEqual(step["samples"], 32 * step["step"])
        self.assertGreater(sum(step["found_inf"] for step in steps), 2)
        self.assertGreater(len({step["loss_scale"] for step in steps}), 3)

    def test_every_step_has_the_values_of_pytorch(self):
        self.expect_same(*self.watched_training())

    def test_a_fused_optimizer_that_reads_found_inf_itself_too(self):
        try:
            torch.optim.Adam(make().parameters(), fused=True)
        except RuntimeError as error:  # before 2.4 on a CPU
            self.skipTest(str(error))
        self.expect_same(*self.watched_training(fused=True))

    def test_the_norm_is_that_of_the_gradients_before_they_are_clipped(self):
        seen, steps = self.watched_training(clip=True)
        self.expect_same(seen, steps)
        finite = 0
        for told, step in zip(seen, steps):
            norm = step["grad_norm"]
            if isinstance(norm, str):
                self.assertFalse(math.isfinite(told["grad_norm"]))
                continue
            finite += 1
            # Unscaling by a power of two rounds nothing, so the same sums are rounded alike.
            self.assertEqual(single(norm), single(told["grad_norm"]))
        self.assertGreater(finite, STEPS // 2)

    def test_the_counted_gradients_are_those_of_every_tenth_step(self):
        seen, steps = self.watched_training()
        for index, (told, step) in enumerate(zip(seen, steps)):
            if index % 10 != 0:
                self.assertNotIn("f16_zero_share", step)
                self.assertNotIn("scale_ceiling", step)
                continue
            flat = torch.cat([grad.reshape(-1) for grad in told["grads"]]).numpy()
            as_f16 = flat.astype(numpy.float16)
            nonzero = numpy.count_nonzero(flat)
            small = numpy.abs(as_f16) < 2.0 ** -14
            expected = {
                "f16_zero_share": numpy.count_nonzero((flat != 0) & (as_f16 == 0)) / nonzero,
                "f16_subnormal_share": numpy.count_nonzero(small & (as_f16 != 0)) / nonzero,
                "f16_overflow_share": numpy.count_nonzero(~numpy.isfinite(as_f16)) / nonzero,
                "grad_zero_share": 1 - nonzero / flat.size}
            for name, share in expected.items():
                self.assertEqual(single(step[name]), single(share), name)
            largest = float(numpy.abs(flat).max())
            if not math.isfinite(largest):
                self.assertNotIn("scale_ceiling", step)
                continue
            self.assertEqual(single(step["scaled_f16_max"]), single(largest))
            self.assertEqual(single(step["grad_max"]), single(largest / step["loss_scale"]))
            self.assertEqual(step["grad_max_exponent"],
                             math.floor(math.log2(largest / step["loss_scale"])))
            self.assertEqual(single(step["scale_ceiling"]),
                             single(65504 * step["loss_scale"] / largest))

    def test_the_training_is_the_same_bit_for_bit_and_the_scaler_as_it_was(self):
        finals = []
        for enabled in (False, True):
            model = make()
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            scaler = self.scaler()
            before = set(vars(scaler))
            with halftone_watch.Watch(self.folder, optimizer=optimizer, scaler=scaler,
                                      enabled=enabled) as watch:
                self.train(model, optimizer, scaler, watch)
            self.assertEqual(set(vars(scaler)), before)
            finals.append([p.detach() for p in model.parameters()])
        for plain, observed in zip(*finals):
            self.assertTrue(torch.equal(plain, observed))

    def test_a_loop_that_accumulates_may_call_step_for_each_batch(self):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = self.scaler()
        with halftone_watch.Watch(self.folder, optimizer=optimizer, scaler=scaler) as watch:
            for index, (x, y) in enumerate(batches(8), start=1):
                loss = loss_of(model, x, y)
                scaler.scale(loss / 4).backward()
                if index % 4 == 0:
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()
                watch.step(loss, samples=4 * len(x))
        self.assertEqual(len(self.steps()), 2)

    def test_two_optimizers_share_the_norm_and_one_overflow_is_a_skip(self):
        first, second = make(1), make(2)
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.01) for m in (first, second)]
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        with halftone_watch.Watch(self.folder, scaler=scaler) as watch:  # gets them from step()
            for index, (x, y) in enumerate(batches(3)):
                loss = loss_of(first, x, y, None) + loss_of(second, x, y, None)
                for optimizer in optimizers:
                    optimizer.zero_grad()
                scaler.scale(loss).backward()
                if index == 1:
                    next(second.parameters()).grad[0, 0] = math.inf
                squares = [float((p.grad.double() / scaler.get_scale()).square().sum())
                           for m in (first, second) for p in m.parameters()]
                for optimizer in optimizers:
                    scaler.step(optimizer)
                scaler.update()
                watch.step(loss)
        steps = self.steps()
        self.assertEqual([step["found_inf"] for step in steps], [False, True, False])
        # Each tensor's sum of at most 1280 squares, the sum of 8 and a root in f32: each addition
        # and product adds a relative error of 2^-24 at most, which the roots halve; and one root,
        # one hypot.
        bound = ((1280 + 1) / 2 + (4 + 1) / 2 + 4) * 2.0 ** -24
        reference = math.sqrt(sum(squares))
        self.assertLess(abs(steps[2]["grad_norm"] / reference - 1), bound)


class Unscaled(support.FolderTest):
    """Without a scaler, or with one that is disabled."""

    def precision(self, autocast, dtype=torch.float32, scaler=None, **options):
        model = make(dtype=dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        with halftone_watch.Watch(self.folder, optimizer=optimizer, model=model, scaler=scaler,
                                  **options) as watch:
            for x, y in batches(3):
                optimizer.zero_grad()
                loss = loss_of(model, x.to(dtype), y, autocast)
                loss.backward()
                optimizer.step()
                watch.step(loss)
        start = json.loads((self.folder / "events.jsonl").read_text().splitlines()[1])
        return start["config"]["precision"], self.steps()

    def test_the_first_step_shows_the_precision(self):
        cases = ((None, torch.float32, {"preset": "fp32"}),
                 (torch.bfloat16, torch.float32, {"preset": "amp-bf16"}),
                 (torch.float16, torch.float32, {"preset": "amp-fp16", "scaler": "off"}),
                 (None, torch.float16, {"preset": "pure-fp16"}))
        for number, (autocast, dtype, expected) in enumerate(cases):
            if torch.float16 in (autocast, dtype) and not hasattr(torch.amp, "GradScaler"):
                continue
            self.folder = self.scratch / str(number)
            self.assertEqual(self.precision(autocast, dtype)[0], expected)

    def test_what_nobody_tells_is_unknown(self):
        precision, steps = self.precision(None, scaler=disabled_scaler(),
                                          precision="tf32")
        self.assertEqual(precision, {"preset": "tf32"})
        for step in steps:
            self.assertEqual((step["loss_scale"], step["found_inf"], step["lr"]), (1, False, 0.5))
            self.assertGreater(step["grad_norm"], 0)
            for name in ("scaled_f16_max", "scale_ceiling", "samples_per_s", "accuracy", "data_ms",
                         "lost_update_share"):
                self.assertNotIn(name, step)
        out, _ = self.halftone("show", self.folder, "--json")
        self.assertEqual(json.loads(out.splitlines()[0])["samples_per_s"], "nan")


class Loops(support.FolderTest):
    """Loops that are not the usual one. None ends for being watched."""

    def warned(self, **options):
        """A watch, and the sentences that it warned with."""
        scope = warnings.catch_warnings(record=True)
        seen = scope.__enter__()
        self.addCleanup(scope.__exit__, None, None, None)
        warnings.simplefilter("always")
        return halftone_watch.Watch(self.folder, **options), seen

    def adversaries(self, bad, count=2):
        """A loop with an update of the scale after each optimizer; in iteration 2 the gradients of
        those in `bad` overflow. Returns the steps as recorded."""
        models = [make(seed) for seed in range(count)]
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.01) for m in models]
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        with halftone_watch.Watch(self.folder, optimizer=optimizers, scaler=scaler) as watch:
            for index, (x, y) in enumerate(batches(4)):
                for which, (model, optimizer) in enumerate(zip(models, optimizers)):
                    optimizer.zero_grad()
                    loss = loss_of(model, x, y, None)
                    scaler.scale(loss).backward()
                    if index == 2 and which in bad:
                        next(model.parameters()).grad[0, 0] = math.inf
                    if index == 3:
                        self.squares[which] = sum(
                            float((p.grad.double() / scaler.get_scale()).square().sum())
                            for p in model.parameters())
                    scaler.step(optimizer)
                    if index == 3 and which == 0:
                        scaler.update(2 * scaler.get_scale())  # the scale changes within the step
                    else:
                        scaler.update()
                watch.step(loss)
        return self.steps()

    @needs_scaler
    def test_an_overflow_before_any_update_of_an_iteration_counts(self):
        for number, (bad, count) in enumerate((({0}, 2), ({1}, 2), ({0, 1}, 2), ({1}, 3), ({0, 2}, 3))):
            self.folder, self.squares = self.scratch / str(number), {}
            steps = self.adversaries(bad, count)
            self.assertEqual([step["found_inf"] for step in steps], [False, False, True, False])
            scale = 1024 * 0.5 ** len(bad)
            self.assertEqual([step["loss_scale"] for step in steps], [1024, 1024, 1024, scale])
            # Gradients behind an update have another scale than the row: the norm is right all the
            # same, but for the f32 roundings of each norm and of their sum.
            reference = math.sqrt(sum(self.squares.values()))
            self.assertLess(abs(steps[3]["grad_norm"] / reference - 1), 700 * 2.0 ** -24)

    def test_a_disabled_scaler_tells_its_optimizer(self):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
        scaler = disabled_scaler()
        with halftone_watch.Watch(self.folder, scaler=scaler, model=model) as watch:
            for x, y in batches(5):
                optimizer.zero_grad()
                loss = loss_of(model, x, y, None)
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                watch.step(loss, samples=4)
            for copied in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
                self.assertEqual(vars(copied), vars(scaler))
            torch.save({"scaler": scaler, "optimizer": optimizer}, io.BytesIO())
        steps = self.steps()
        self.assertEqual([(s["lr"], s["loss_scale"], s["samples"]) for s in steps],
                         [(0.25, 1, 4 * i) for i in range(1, 6)])
        start = json.loads((self.folder / "events.jsonl").read_text().splitlines()[1])
        self.assertEqual(start["origin"]["optimizer"], "SGD")
        self.assertEqual(start["parameters"], 20 * 64 + 64 + 64 * 5 + 5)

    @needs_scaler
    def test_an_enabled_scaler_that_the_loop_leaves_out(self):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
        scaler = torch.amp.GradScaler("cpu")
        with halftone_watch.Watch(self.folder, scaler=scaler, optimizer=optimizer) as watch:
            for x, y in batches(2):
                optimizer.zero_grad()
                loss = loss_of(model, x, y, None)
                loss.backward()
                norm = math.sqrt(sum(float(p.grad.double().square().sum())
                                     for p in model.parameters()))
                optimizer.step()
                watch.step(loss)
        steps = self.steps()
        self.assertEqual(len(steps), 2)
        self.assertLess(abs(steps[1]["grad_norm"] / norm - 1), 700 * 2.0 ** -24)

    @needs_scaler
    def test_a_watch_that_saw_no_optimizer_says_so(self):
        watch, told = self.warned(scaler=torch.amp.GradScaler("cpu"))
        watch.step(1.0)
        watch.close()
        self.assertEqual(len(told), 1)
        self.assertIn("no optimizer step was seen", str(told[0].message))

    @needs_scaler
    def test_a_watched_scaler_is_saved_and_copied_like_any_other(self):
        scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        plain = io.BytesIO()
        torch.save({"scaler": scaler}, plain)
        with halftone_watch.Watch(self.folder, optimizer=optimizer, scaler=scaler) as watch:
            kept = io.BytesIO()
            torch.save({"scaler": scaler, "optimizer": optimizer}, kept)
            pickled = pickle.loads(pickle.dumps(scaler))
            copied, shallow = copy.deepcopy(scaler), copy.copy(scaler)
            self.assertEqual(set(vars(scaler)), set(vars(copied)))
            for other in (copied, shallow, pickled):
                # The copy steps another optimizer, of which the watch knows nothing.
                aside = torch.optim.SGD(make(1).parameters(), lr=0.01)
                for p in aside.param_groups[0]["params"]:
                    p.grad = torch.ones_like(p)
                other.scale(torch.ones(()))
                other.step(aside)
                other.update()
                watch.step(1.0)
            self.assertEqual(watch.steps, 0)
            (x, y), = batches(1)
            scaler.scale(loss_of(model, x, y, None)).backward()
            scaler.step(optimizer)
            scaler.update()
            watch.step(1.0)
        kept.seek(0)
        loaded = torch.load(kept, weights_only=False)["scaler"]
        self.assertEqual(loaded.state_dict()["scale"], 512.0)
        self.assertEqual([step["loss_scale"] for step in self.steps()], [512])
        self.assertNotIn("step", vars(scaler))

    @needs_scaler
    def test_two_watches_of_one_scaler_end_one_after_the_other(self):
        kind = torch.amp.GradScaler
        before = {name: vars(kind)[name] for name in ("step", "update", "unscale_")}
        scaler = kind("cpu")
        first = halftone_watch.Watch(self.scratch / "1", scaler=scaler)
        second = halftone_watch.Watch(self.scratch / "2", scaler=scaler)
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in batches(2):
            scaler.scale(loss_of(model, x, y, None)).backward()
            scaler.step(optimizer)
            scaler.update()
            first.step(1.0)
            second.step(2.0)
            first.close()
        second.close()
        self.assertEqual((first.steps, second.steps), (1, 2))
        self.assertEqual({name: vars(kind)[name] for name in before}, before)

    def test_losses_that_are_no_numbers_are_missing(self):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        watch, told = self.warned(optimizer=optimizer)
        odd = [torch.ones(4), None, "0.5", torch.ones(2, 2), torch.tensor(1 + 2j), {"loss": 1},
               torch.empty(0), object(), torch.tensor([2.5]), 3]
        for loss in odd:
            optimizer.step()
            watch.step(loss)
        watch.close()
        self.assertEqual(len(told), 1)
        self.assertIn("loss of step 1 is no number (Tensor of shape (4,))", str(told[0].message))
        self.assertEqual([step.get("loss") for step in self.steps()][-2:], [2.5, 3])
        self.assertEqual(watch.steps, len(odd))

    def test_a_fault_of_the_watcher_is_a_warning(self):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        watch, told = self.warned(optimizer=optimizer)
        watch._reader.read = None  # whatever goes wrong inside
        for x, y in batches(2):
            loss_of(model, x, y, None).backward()
            optimizer.step()
            watch.step(1.0)
        watch.epoch(test_loss=1.0)
        watch.close()
        self.assertEqual(len(told), 1)
        self.assertIn("cannot record all of this training", str(told[0].message))


class OlderPyTorch(support.FolderTest):
    """The calls of versions before 2.4: without arguments of is_autocast_enabled, and before 2.0
    without hooks of an optimizer's step."""

    def without(self, where, name, instead=None):
        kept = getattr(where, name)
        if instead is None:
            delattr(where, name)
        else:
            setattr(where, name, instead)
        self.addCleanup(setattr, where, name, kept)

    def before_2_4(self):
        if not hasattr(torch, "get_autocast_dtype"):
            return  # it is older than that
        enabled = torch.is_autocast_enabled
        self.without(torch, "is_autocast_enabled", lambda: enabled("cuda"))
        self.without(torch, "get_autocast_dtype")

    def before_2_0(self):
        self.before_2_4()
        if hasattr(torch.optim.Optimizer, "register_step_pre_hook"):
            self.without(torch.optim.Optimizer, "register_step_pre_hook")

    def train(self, prepare, schedule=None, autocast=torch.bfloat16):
        """`prepare` makes PyTorch older, in a region that PyTorch itself has entered before."""
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        region = contextlib.nullcontext() if autocast is None else torch.autocast("cpu", autocast)
        with warnings.catch_warnings(), region:
            warnings.simplefilter("error")
            # A newer PyTorch deprecates what an older one has to call.
            warnings.filterwarnings("ignore", ".*autocast", DeprecationWarning)
            prepare()
            plain = vars(optimizer).get("step")
            if schedule == "before":
                add_old_schedule(optimizer)
                plain = vars(optimizer)["step"]
            with halftone_watch.Watch(self.folder, optimizer=optimizer, model=model) as watch:
                if schedule == "after":
                    add_old_schedule(optimizer)
                for x, y in batches(3):
                    optimizer.zero_grad()
                    loss = loss_of(model, x, y, None)
                    loss.backward()
                    optimizer.step()
                    watch.step(loss)
        if schedule != "after":
            self.assertIs(vars(optimizer).get("step"), plain)
        optimizer.step()
        self.assertEqual(getattr(optimizer, "_step_count", 4), 4)
        start = json.loads((self.folder / "events.jsonl").read_text().splitlines()[1])
        return start["config"]["precision"]["preset"], self.steps()

    def test_a_training_under_autocast(self):
        for number, prepare in enumerate((self.before_2_4, self.before_2_0)):
            self.folder = self.scratch / str(number)
            preset, steps = self.train(prepare)
            self.assertEqual((preset, len(steps)), ("amp-bf16", 3))
            self.assertGreater(steps[-1]["grad_norm"], 0)
            self.doCleanups()
            self.setUp()

    def test_a_step_that_a_scheduler_has_replaced(self):
        for schedule in ("before", "after"):
            self.folder = self.scratch / schedule
            preset, steps = self.train(self.before_2_0, schedule, None)
            self.assertEqual((preset, len(steps)), ("fp32", 3))
        self.assertEqual(steps[-1]["lr"], 0.5)


class Schedules(support.FolderTest):
    """PyTorch's own, which wrap the optimizer's step in a way of each version."""

    def test_the_rate_is_that_of_the_step(self):
        for when in ("before", "after"):
            self.folder = self.scratch / when
            model = make()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
            schedule = [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)] if when == "before" else []
            with halftone_watch.Watch(self.folder, optimizer=optimizer, model=model) as watch:
                schedule = schedule or [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # such as that the optimizer's step was replaced
                    for x, y in batches(3):
                        optimizer.zero_grad()
                        loss = loss_of(model, x, y, None)
                        loss.backward()
                        optimizer.step()
                        watch.step(loss)
                        schedule[0].step()
            self.assertEqual([step["lr"] for step in self.steps()], [0.5, 0.25, 0.125])
            self.assertGreater(self.steps()[-1]["grad_norm"], 0)


def add_old_schedule(optimizer):
    """Does what learning-rate schedulers up to 2.4 do with an optimizer: its step counts its calls."""
    method = optimizer.step
    instance, function, kind = weakref.ref(method.__self__), method.__func__, type(optimizer)

    @functools.wraps(function)
    def counted(*args, **kwargs):
        instance()._step_count += 1
        return function.__get__(instance(), kind)(*args, **kwargs)

    optimizer._step_count = 0
    optimizer.step = counted


class LateReading(reading.Reading):
    """Simulates a slow device: a value is available after some polls."""

    def __init__(self, known, looks):
        super().__init__(known)
        self.looks = looks
        self.waited = False

    def ready(self):
        self.looks -= 1
        return self.looks < 0 or self.waited

    def wait(self):
        self.waited = True

    def figures(self):
        assert self.waited or self.looks < 0, "read before it was there"
        return self._known


class Late(support.FolderTest):
    """Figures that arrive late keep their order, and none is lost at the end."""

    def test_rows_keep_their_order_and_the_end_waits_for_them(self):
        watch = halftone_watch.Watch(self.folder)
        real = watch._reader.read
        watch._reader.read = lambda values: LateReading(real(values).figures(),
                                                        3 if watch.steps % 5 else 0)
        for step in range(1, 41):
            watch.step(float(step))
        self.assertGreater(len(watch._waiting), 0)
        watch.close()
        self.assertEqual([step["loss"] for step in self.steps()], list(range(1, 41)))


class Census(unittest.TestCase):
    """Counts at the limits of f16."""

    def test_the_edges_of_f16(self):
        values = [0.0, 2.0 ** -25, 2.0 ** -25 * (1 + 2.0 ** -23), 1023.5 * 2.0 ** -24 * (1 - 2.0 ** -24),
                  1023.5 * 2.0 ** -24, 65504.0, 65519.99, 65520.0, math.inf, -1.0]
        found = gradient_census.census([torch.tensor(values)])
        self.assertEqual(found["grad_zero_share"], 1 - 9 / 10)
        self.assertEqual(found["zero_share"], 1 / 9)
        self.assertEqual(found["subnormal_share"], 2 / 9)
        self.assertEqual(found["overflow_share"], 2 / 9)
        self.assertEqual(found["scaled_max"], math.inf)

    def test_pieces_count_every_value_once(self):
        dice = torch.Generator().manual_seed(1)
        grads = [torch.randn(size, generator=dice) * 1e-6
                 for size in (3, 1 << 18, 100, (1 << 18) + 5, 1, 700_001)]
        flat = torch.cat(grads)
        pieces = list(gradient_census._pieces(grads, 1 << 18))
        self.assertEqual(sum(piece.numel() for piece in pieces), flat.numel())
        self.assertEqual(sum(float(piece.double().sum()) for piece in pieces).__round__(12),
                         float(flat.double().sum()).__round__(12))
        # The device's implementation, with the same arithmetic, on this device.
        device = gradient_census._count_on_device(grads)
        for name, share in gradient_census.census(grads).items():
            self.assertEqual(single(float(device[name])), single(share), name)


@unittest.skipUnless(torch.cuda.is_available(), "there is no CUDA device")
class Cuda(support.FolderTest):
    """On a GPU nothing waits for the device."""

    def test_a_training_that_never_waits_still_never_does(self):
        model = make(device="cuda")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
        scaler = torch.amp.GradScaler("cuda", init_scale=2.0 ** 23, growth_interval=8)
        data = list(batches(STEPS, "cuda"))
        losses = []
        watch = halftone_watch.Watch(self.folder, optimizer=optimizer, scaler=scaler, model=model)
        try:
            for index, (x, y) in enumerate(data):
                optimizer.zero_grad()
                loss = loss_of(model, x, y)
                scaler.scale(loss).backward()
                scaler.step(optimizer)  # fused: reads found_inf on the device
                scaler.update()
                watch.step(loss, samples=len(x))
                losses.append(loss.detach())
                if index == 0:  # the first step reads the scaler's rule
                    torch.cuda.set_sync_debug_mode("error")
        finally:
            torch.cuda.set_sync_debug_mode("default")
        watch.close()
        steps = self.steps()
        self.assertEqual([single(step["loss"]) for step in steps],
                         [single(loss.item()) for loss in losses])
        self.assertGreater(sum(step["found_inf"] for step in steps), 2)
        self.assertGreater(steps[-1]["peak_bytes"], 0)


if __name__ == "__main__":
    support.main()
