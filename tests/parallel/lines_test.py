"""The calls of communicators over MPI, for several numbers of ranks (mpi_lines.cpp)."""

import argparse
import pathlib
import shutil
import sys
import tempfile

from ranks import Launch, Problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    if shutil.which("mpirun") is None:
        print("there is no mpirun")
        return 77
    problems = Problems()
    with tempfile.TemporaryDirectory(prefix="halftone-lines-") as name:
        folder = pathlib.Path(name)
        for ranks, mode, expected in [(2, [], 0), (3, [], 0), (5, [], 0), (3, ["abort"], 5)]:
            launch = Launch(["mpirun", "-n", str(ranks), args.program, *mode], folder, folder)
            code = launch.finish(120)
            what = f"{ranks} ranks {' '.join(mode)}"
            print(what, flush=True)
            problems.expect(code == expected, f"{what}: exit code {code}: {launch.error_text()}")
            problems.expect(not launch.left_running(), f"{what}: processes are left running")
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
