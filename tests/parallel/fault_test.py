"""Kills and stops ranks of a run at random moments: all of them must end within 30 s with exit code
5 and one sentence that names the rank, and the last checkpoint must be whole. Then a full disk."""

import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ranks import LIMIT_S, Launch, Problems, SETTINGS, environment, state_of, words


class Fault:
    """One run and what happens to one of its ranks."""

    def __init__(self, args, folder, ranks, rank, number, delay, resume_with, also=()):
        self.args, self.ranks, self.rank, self.number, self.also = args, ranks, rank, number, also
        self.delay, self.folder, self.resume_with = delay, folder, resume_with
        self.run = folder / f"run-{time.monotonic_ns()}"
        self.name = (f"{signal.Signals(number).name} of rank {rank} of {ranks} after {delay:.2f} s, "
                     f"resumed with {resume_with}")

    def before(self):
        return [*self.args.launcher.split(), "-n", str(self.ranks)] if self.args.launcher else []

    def expected_code(self):
        """An mpirun of the user's tells of a rank that a signal killed by its own exit code."""
        return 128 + self.number if "mpirun" in self.args.launcher and self.number == signal.SIGKILL else 5

    def happen(self, problems):
        """The seconds until all had ended; None where it could not be tried."""
        command = [self.args.halftone, "train", "--json", "--out", str(self.run),
                   *words(SETTINGS + [f"workers={self.ranks}", "checkpoint.every_steps=20"])]
        launch = Launch([*self.before(), *command], self.folder, self.folder)
        if not launch.wait_for_steps(1):
            launch.finish(0)
            problems.expect(False, f"{self.name}: no step: {launch.error_text()}")
            return None
        time.sleep(self.delay)
        pids = launch.pids()
        for rank in (self.rank, *self.also):
            os.kill(pids[rank], self.number)
        since = time.monotonic()
        if self.number == signal.SIGSTOP:
            self.watch_stop(launch, [pids[rank] for rank in (self.rank, *self.also)], since + LIMIT_S, problems)
        code = launch.finish(max(0, since + LIMIT_S - time.monotonic()))
        took = time.monotonic() - since
        self.check_end(launch, code, problems)
        self.check_checkpoint(launch, problems)
        return took

    def watch_stop(self, launch, stopped, until, problems):
        """Until the launch has ended: a rank that somebody resumes goes on, as it must, and is no hung rank. `mpirun`
        resumes it too, to end it, which takes a moment."""
        seen = set()
        while time.monotonic() < until and launch.process.poll() is None:
            states = {pid: state_of(pid) for pid in stopped}
            seen |= {pid for pid in stopped if states[pid] == "T"}
            woken = [pid for pid in seen if states[pid] not in ("T", "Z", "X", None)]
            time.sleep(min(2, max(0, until - time.monotonic())) if woken else 0.1)
            if woken and launch.process.poll() is None and not launch.sentences():
                problems.expect(False, f"{self.name}: not a fault of the program: somebody resumed the stopped rank")
                return

    def check_end(self, launch, code, problems):
        problems.expect(code == self.expected_code(), f"{self.name}: exit code {code}: {launch.error_text()}")
        self.check_sentence(launch, problems)
        problems.expect(not launch.left_running(), f"{self.name}: processes are left running")

    def check_sentence(self, launch, problems):
        """One, which names the rank. The mpirun of MPICH and of Open MPI 5 kills the other ranks at once: the command that
        started it says so, and a rank may or may not have named the lost one before."""
        said = launch.sentences()
        lost = "halftone: A rank was lost; mpirun ended the others before they named it."
        if self.args.kills_at_once and self.number == signal.SIGKILL and lost in said:
            said.remove(lost)
            if not said:
                return
        problems.expect(len(said) == 1 and f"Rank {self.rank} " in said[0], f"{self.name}: said {said}")

    def check_checkpoint(self, launch, problems):
        """As many ranks as `resume_with` go on from what is there, to some steps beyond what was reached."""
        goal = launch.events("step")[-1]["step"] + 20
        out = self.run.with_suffix(".on")
        result = subprocess.run(
            [self.args.halftone, "resume", str(self.run), "--json", "--out", str(out),
             *words([f"workers={self.resume_with}", f"max_steps={goal}"])],
            env=environment(self.folder, "none"), capture_output=True, text=True, timeout=120)
        is_done = result.returncode == 0 and f'"step":{goal},' in result.stdout
        problems.expect(is_done, f"{self.name}: cannot go on: {result.stderr}")
        problems.expect("damaged" not in result.stderr, f"{self.name}: {result.stderr}")


def fill_disk(args, folder, problems):
    """Rank 0 finds no room for files above 8 KiB: a checkpoint costs a warning, and the record ends the run on all
    ranks where it must grow."""
    run, output = folder / "full", folder / "full.out"
    # The limit would hold for the output too if rank 0 wrote it to a file itself.
    with open(output, "wb") as file:
        copier = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
    launch = Launch([args.halftone, "train", "--json", "--out", str(run),
                     *words(SETTINGS + ["workers=2", "checkpoint.every_steps=100"])], folder, folder, output=copier.stdin)
    copier.stdin.close()
    launch.output = output
    if not problems.expect(launch.wait_for_steps(1), f"full disk: no step: {launch.error_text()}"):
        return launch.finish(0)
    resource.prlimit(launch.pids()[0], resource.RLIMIT_FSIZE, (8192, 8192))
    code = launch.finish(60)
    copier.wait()
    problems.expect(code == 5, f"full disk: exit code {code}: {launch.error_text()}")
    problems.expect(launch.events("warning"), "full disk: no warning about the checkpoint")
    said = launch.sentences()
    # The second: what the run has lost.
    problems.expect(len(said) == 2 and "the disk is full" in said[0] and "is not on the disk" in said[1],
                    f"full disk: said {said}")
    steps = [event["step"] for event in launch.events("step")]
    # Chunks of 512, 1024, 2048 ... rows (handbook, file formats).
    problems.expect(len(steps) in (512, 1536, 3584, 7680) and steps == list(range(1, len(steps) + 1)),
                    f"full disk: {len(steps)} steps")
    problems.expect(not launch.left_running(), "full disk: processes are left running")
    return None


def faults(args, folder, dice):
    """Faults of the numbers of ranks in turn, and of each number's ranks in turn."""
    for number, count in ((signal.SIGKILL, args.kills), (signal.SIGSTOP, args.stops)):
        for i in range(count):
            turn, which = divmod(i, len(args.ranks))
            ranks = args.ranks[which]
            yield Fault(args, folder, ranks, turn % ranks, number, dice.uniform(0, 1.5), (1, 2, 4)[i % 3])
    for _ in range(args.speaker_stops):  # rank 1 is the one that should say that rank 0 is lost
        yield Fault(args, folder, 3, 0, signal.SIGSTOP, dice.uniform(0, 1.5), 2, also=(1,))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halftone", required=True)
    parser.add_argument("--launcher", default="", help='of the ranks, such as "srun --mpi=pmix"; without one, `workers` starts them')
    parser.add_argument("--ranks", type=int, nargs="+", default=[3])
    parser.add_argument("--kills", type=int, default=3, help="of the ranks in turn")
    parser.add_argument("--stops", type=int, default=1)
    parser.add_argument("--speaker-stops", type=int, default=0, help="of the rank that names the lost one, together with that")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    args = parser.parse_args()
    if shutil.which("mpirun") is None:
        print("there is no mpirun")
        return 77
    doctor = subprocess.run([args.halftone, "doctor"], capture_output=True, text=True, check=True)
    args.kills_at_once = re.search(r"MPICH|Open MPI v([5-9]|\d\d)", doctor.stdout) is not None
    print("seed", args.seed, flush=True)
    dice, problems = random.Random(args.seed), Problems()
    with tempfile.TemporaryDirectory(prefix="halftone-fault-") as folder:
        held = tried = 0
        times = []
        for fault in faults(args, pathlib.Path(folder), dice):
            before = problems.count
            took = fault.happen(problems)
            tried += 1
            held += problems.count == before
            if took is not None:
                times.append(took)
            print(fault.name, "" if took is None else f": all ended after {took:.1f} s", flush=True)
        print(f"{held} of {tried} ended as they must, the slowest after {max(times, default=0):.1f} s", flush=True)
        print("full disk", flush=True)
        fill_disk(args, pathlib.Path(folder), problems)
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
