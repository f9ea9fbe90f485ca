"""Runs where flock(2) does not work: it fails with ENOLCK, as on a file system without locks, or succeeds and locks nothing.

A library that is preloaded stands in for the system's call, in trainers, lists and resumes alike. Leases alone must keep
two writers from a run, and runs that start at once must get folders of their own, which no start sweeps away.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from programs import SMALL

STARTS = 6
LONG = ["epochs=1000000", "max_steps=100000000", "checkpoint.every_steps=50"]


class Test:
    def __init__(self, args, home, does):
        self.halftone, self.home, self.does = args.halftone, pathlib.Path(home), does
        self.log = self.home / "log"
        self.environment = dict(os.environ, XDG_DATA_HOME=str(self.home), LD_PRELOAD=args.library, FLOCK_DOES=does,
                                FLOCK_LOG=str(self.log), OMP_WAIT_POLICY="passive")
        self.problems = 0

    def expect(self, is_right, text):
        if not is_right:
            self.problems += 1
            print(f"WRONG ({self.does}):", text, flush=True)

    def command(self, command, settings=()):
        return [self.halftone, *map(str, command), *(word for setting in settings for word in ("--set", setting))]

    def start(self, *settings):
        return subprocess.Popen(self.command(["train", "--json"], SMALL + list(settings)), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, env=self.environment)

    def run(self, *command):
        return subprocess.run(self.command(command), capture_output=True, text=True, timeout=120, env=self.environment)

    def states(self):
        done = self.run("runs", "--json")
        self.expect(done.returncode == 0, f"runs: {done.returncode}: {done.stderr}")
        return {run["run"]: run for run in map(json.loads, done.stdout.splitlines()) if run.get("event") == "run"}

    def starts_at_once(self):
        trainers = [self.start("epochs=1", "max_steps=5") for _ in range(STARTS)]
        for trainer in trainers:
            _, errors = trainer.communicate(timeout=120)
            self.expect(trainer.returncode == 0, f"train: {trainer.returncode}: {errors}")
        states = self.states()
        self.expect(sorted(states) == [str(i + 1) for i in range(STARTS)], f"six starts made {sorted(states)}")
        for run, found in states.items():
            self.expect(found["state"] == "done" and found["steps"] == 5, f"run {run}: {found['state']}, {found['steps']}")
            self.expect((pathlib.Path(found["folder"]) / "steps.rec").exists(), f"run {run} has no record")

    def one_writer(self):
        run = str(STARTS + 1)
        trainer = self.start(*LONG)
        until = time.monotonic() + 60
        while self.checkpoint(run) is None and time.monotonic() < until and trainer.poll() is None:
            time.sleep(0.05)
        self.expect(self.states().get(run, {}).get("state") == "running", "a run that trains is running")
        for command in (["resume", run], ["delete", run, "--yes"]):
            done = self.run(*command)
            self.expect(done.returncode == 2 and "is being trained" in done.stderr,
                        f"{command}: {done.returncode}: {done.stderr}")
        self.expect(trainer.poll() is None, "the trainer goes on")
        trainer.send_signal(signal.SIGKILL)
        trainer.communicate(timeout=60)
        self.expect(self.states()[run]["state"] == "interrupted", "a run whose process is dead is interrupted")
        last = self.checkpoint(run)
        done = self.run("resume", run, "--set", f"max_steps={last + 5}", "--set", "epochs=1000000")
        self.expect(done.returncode == 0, f"resume: {done.returncode}: {done.stderr}")

    def checkpoint(self, run):
        """The step of the newest checkpoint."""
        folder = self.home / "halftone" / "runs" / run
        steps = [int(each.name.partition("-")[2]) for each in folder.glob("checkpoint-*") if each.name[11:].isdigit()]
        return max(steps, default=None)


def main():
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--halftone", required=True, help="the program")
    cli.add_argument("--library", required=True, help="the library that stands in for flock")
    args = cli.parse_args()
    problems = 0
    for does in ("fails", "nothing"):
        with tempfile.TemporaryDirectory(prefix="halftone-flock-") as home:
            test = Test(args, home, does)
            test.starts_at_once()
            test.one_writer()
            asked = test.log.stat().st_size if test.log.exists() else 0
            test.expect(asked > STARTS, f"flock was asked {asked} times: the library is not in place")
            problems += test.problems
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
