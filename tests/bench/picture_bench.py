"""Pictures a second of decoding, random-resized crop and flip alone: the program's pipeline beside torchvision's.

The same files, the same number of threads (torchvision: worker processes of a DataLoader, kept alive), epochs in turn so that
the machine's mood hits both. Prints the median of each and their ratio. Needs torch, torchvision and Pillow;
`ninja picture_pipeline` first.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
import torchvision
from torchvision import transforms

BATCH = 32


class Ours:
    def __init__(self, program, folder, size, threads):
        self.process = subprocess.Popen([program, "speed", str(folder), str(size), str(threads)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pictures = int(self.process.stdout.readline().split()[1])

    def epoch(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


class Torchvision:
    def __init__(self, folder, size, threads):
        torch.set_num_threads(1)
        change = transforms.Compose([transforms.RandomResizedCrop(size, antialias=True), transforms.RandomHorizontalFlip(),
                                     transforms.ToTensor(),
                                     transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
        data = torchvision.datasets.ImageFolder(folder, change)
        self.loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=threads, prefetch_factor=2,
                                                  persistent_workers=True)

    def epoch(self):
        start = time.perf_counter()
        for _ in self.loader:
            pass
        return time.perf_counter() - start


def repeat(folder, times, out):
    """The training part `times` over, by links, so that an epoch takes seconds."""
    for part in ("train", "val"):
        for kind in sorted((folder / part).iterdir()):
            (out / part / kind.name).mkdir(parents=True)
            for file in sorted(kind.iterdir()):
                for i in range(times if part == "train" else 1):
                    (out / part / kind.name / f"{i}-{file.name}").symlink_to(file.resolve())


def main():
    here = pathlib.Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="with train and val folders of pictures")
    parser.add_argument("--program", default=here.parents[2] / "build/release/tests/peer/picture_pipeline")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        repeat(args.folder, args.repeat, folder)
        ours = Ours(args.program, folder, args.size, args.threads)
        peer = Torchvision(str(folder / "train"), args.size, args.threads)
        ours.epoch(), peer.epoch()
        times = [(ours.epoch(), peer.epoch()) for _ in range(args.epochs)]
    mine, theirs = (ours.pictures / statistics.median(each) for each in zip(*times))
    ratios = sorted(b / a for a, b in times)
    print(f"{ours.pictures} pictures, {args.size} x {args.size}, {args.threads} threads: {mine:.0f} pictures/s, torchvision "
          f"{torchvision.__version__} {theirs:.0f}, ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
