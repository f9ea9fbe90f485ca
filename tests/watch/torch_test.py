"""A real PyTorch training with a GradScaler, watched: what is recorded is what PyTorch has."""

import contextlib
import json
import math
import unittest

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
            self.folder = self.scratch / str(number)
            self.assertEqual(self.precision(autocast, dtype)[0], expected)

    def test_what_nobody_tells_is_unknown(self):
        precision, steps = self.precision(None, scaler=torch.amp.GradScaler("cpu", enabled=False),
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
