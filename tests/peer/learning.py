"""Training runs with several seeds, here and in PyTorch, and whether their means agree: they may be apart by twice the
larger spread over seeds (the deviation of a single run, as estimated from them). A relative change of 1e-6 in the weights
moves the result of a run by several per cent, so equality of single runs decides nothing."""

import statistics
import time

import halftone

PRECISIONS = ("fp32", "amp-fp16", "amp-bf16")
PEER = "PyTorch"


def train(binary, fields, out, home):
    """The `done` event of a run of `halftone train` with these settings."""
    output = halftone.run(binary, "train", *(w for f, v in fields.items() for w in ("--set", f"{f}={v}")), "--out", str(out),
                          "--json", env={"XDG_DATA_HOME": str(home)})
    done, = (e for e in halftone.events(output) if e["event"] == "done")
    return done


def learn(name, seeds, runs):
    """{what computed them: its results, seed by seed}. runs: functions of the seed, each of which gives {metric: value};
    PyTorch's comes last, since it may need what ours wrote."""
    found = {computed: [] for computed in runs}
    for seed in range(1, seeds + 1):
        for computed, run in runs.items():
            begun = time.monotonic()
            found[computed].append(run(seed))
            told = ", ".join(f"{metric} {value:.4f}" for metric, value in found[computed][-1].items())
            print(f"    {name} {computed} seed {seed}: {told}; {time.monotonic() - begun:.0f} s", flush=True)
    return found


def values(found, computed, metric):
    return [result[metric] for result in found[computed]]


def print_results(models, metrics):
    """models: {name: what learn() found}; metrics: {name: function for one more column, or None}."""
    print("| model | computed by | metric | each seed | mean |\n| --- | --- | --- | --- | ---: |")
    for name, found in models.items():
        for computed in found:
            for metric, more in metrics.items():
                each = values(found, computed, metric)
                mean = statistics.mean(each)
                told = f" ({more(mean)})" if more else ""
                print(f"| {name} | {computed} | {metric} | {', '.join(f'{x:.4f}' for x in each)} | {mean:.4f}{told} |")


def judge(name, one, other):
    """Prints how far two lists of results are apart. Returns whether that is too much."""
    spread = max(statistics.stdev(one), statistics.stdev(other))
    apart = abs(statistics.mean(one) - statistics.mean(other))
    print(f"| {name} | {apart:.4f} | {spread:.4f} | {apart / spread if spread > 0 else float('inf'):.2f} |", flush=True)
    return not apart <= 2 * spread


def compare_means(models, metrics):
    """Compares the first precision with PyTorch and with the other precisions. Returns how many are too far apart."""
    print("\n| means of | apart | spread | apart in spreads |\n| --- | ---: | ---: | ---: |")
    failed = 0
    for name, found in models.items():
        first, *others = (computed for computed in found if computed != PEER)
        for metric in metrics:
            ours = values(found, first, metric)
            failed += judge(f"{name}, {metric}: {first} here and in PyTorch", ours, values(found, PEER, metric))
            for other in others:
                failed += judge(f"{name}, {metric}: {first} and {other}", ours, values(found, other, metric))
    print(f"{failed} beyond twice the spread")
    return failed
