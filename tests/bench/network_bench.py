#!/usr/bin/env python3
"""network_bench.py PROGRAM [--blocks N]: time of a step and peak memory of the built-in models and of their templates in the network
notation, on the CPU. Both run as `halftone bench --paced` and take turns block by block, so that what else the machine does meets both;
the figure is the median of the blocks' ratios. Writes Markdown."""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

# model: settings of the data, batch, steps of a block
SIZES = {"mlp": (["dataset.kind=spirals"], 32, 400), "lenet": (["dataset.kind=glyphs"], 64, 12),
         "resnet18": (["dataset.kind=glyphs", "model.options.stem=cifar"], 4, 1), "mobilenetv2": (["dataset.kind=glyphs", "model.options.stem=cifar"], 8, 1)}


class Paced:
    """A run that does a block of steps when it is asked."""

    def __init__(self, program, settings, steps):
        words = [word for setting in settings for word in ("--set", setting)]
        self.process = subprocess.Popen([program, "bench", "--paced", "--json", "--steps", str(steps), "--blocks", "1000", "--warm-up", "2", *words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # ready

    def block(self):
        """Milliseconds of a step."""
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.wait()


def measured(program, settings):
    """Peak bytes, and the first losses."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([program, "bench", "--json", "--steps", "2", "--blocks", "1", "--warm-up", "1", *words], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["peak_bytes"], found["first_losses"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--blocks", type=int, default=15)
    options = parser.parse_args()
    print("| model | precision | built-in, ms | text, ms | ratio | peak memory | losses |\n| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for kind, (data, batch, steps) in SIZES.items():
            file = pathlib.Path(folder) / f"{kind}.network"
            file.write_text(subprocess.run([options.program, "network", "--template", kind], capture_output=True, text=True, check=True).stdout)
            for preset in ("fp32", "amp-bf16"):
                common = [*data, f"batch_size={batch}", "device=cpu", "threads=1", f"precision.preset={preset}"]
                sides = [[f"model.kind={kind}", *common], ["model.kind=file", f"model.path={file}", *common]]
                runs = [Paced(options.program, side, steps) for side in sides]
                times = [[run.block() for run in runs] for _ in range(options.blocks)]
                for run in runs:
                    run.end()
                (peak, losses), (text_peak, text_losses) = (measured(options.program, side) for side in sides)
                ratio = statistics.median(b / a for a, b in times)
                print(f"| {kind} | {preset} | {statistics.median(a for a, _ in times):.3g} | {statistics.median(b for _, b in times):.3g} | {ratio:.3f} | {text_peak / peak:.4f} | {'equal' if losses == text_losses else 'differ'} |", flush=True)


if __name__ == "__main__":
    main()
