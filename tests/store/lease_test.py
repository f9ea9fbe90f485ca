"""Never two writers of a run: one trains it, another looks at it, resumes it, and finds it taken.

Over two mounts of one folder by sshfs, as two machines of a network have it: locks do not cross from one to the other. Another
machine is another PID namespace. `--long` waits for as long as a lease lasts: a trainer is stopped for 120 seconds, its run is
resumed elsewhere, and it wakes up."""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from programs import SMALL, events_of

SKIPPED = 77
SERVERS = ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server")
LONG = ["epochs=1000000", "max_steps=100000000", "checkpoint.every_steps=200"]


def words(settings):
    return [word for setting in settings for word in ("--set", setting)]


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


@contextlib.contextmanager
def mounts(folder, points, server):
    """The folder at these points, each by an sshfs of its own whose other end is a server without a network."""
    script = folder.parent / "connect"
    script.write_text(f"#!/bin/sh\nexec {server}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    done = []
    try:
        for point in points:
            point.mkdir()
            mounted = subprocess.run(["sshfs", "-o", f"ssh_command={script}", f"here:{folder}", str(point)],
                                     capture_output=True, text=True, timeout=30)
            if mounted.returncode != 0:
                skip(f"sshfs cannot mount here: {mounted.stderr.strip()}")
            done.append(point)
        yield
    finally:
        for point in done:
            subprocess.run(["umount", "-l", str(point)], check=False, capture_output=True)
            subprocess.run(["fusermount3", "-uz", str(point)], check=False, capture_output=True)


class Machine:
    """Programs of one machine, which have a history of their own."""

    def __init__(self, halftone, home, elsewhere):
        self.halftone = halftone
        self.before = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() else []), "--pid", "--fork",
                       "--mount-proc", "--kill-child"] if elsewhere else []
        self.environment = dict(os.environ, XDG_DATA_HOME=str(home), OMP_WAIT_POLICY="passive")

    def start(self, *command, out=subprocess.DEVNULL, err=subprocess.PIPE):
        return subprocess.Popen([*self.before, self.halftone, *map(str, command)], stdout=out, stderr=err, text=True,
                                env=self.environment)

    def run(self, *command):
        return subprocess.run([*self.before, self.halftone, *map(str, command)], capture_output=True, text=True,
                              timeout=120, env=self.environment)

    def state(self, run):
        done = self.run("show", run, "--json")
        return json.loads(done.stdout.splitlines()[0]) if done.returncode == 0 else {"state": done.stderr}


class Test:
    def __init__(self, args):
        self.args = args
        self.problems = 0

    def expect(self, is_right, text):
        if not is_right:
            self.problems += 1
            print("WRONG:", text, flush=True)

    def expect_refused(self, machine, run, words_):
        done = machine.run("resume", run, "--json")
        self.expect(done.returncode == 2 and words_ in done.stderr, f"resume: {done.returncode}: {done.stderr}")

    def wait_for(self, run, steps, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.rows(run) >= steps:
                return
            time.sleep(0.1)
        self.expect(False, f"{run} has {self.rows(run)} rows and not {steps}")

    @staticmethod
    def rows(run):
        try:
            data = (run / "steps.rec").read_bytes()[24:32]
        except OSError:
            return 0
        return int.from_bytes(data, "little")

    def two_mounts(self, home, here, there):
        """A run that trains over one mount, looked at over the other: by the same machine and by another one."""
        same = Machine(self.args.halftone, home / "same", False)
        other = Machine(self.args.halftone, home / "other", True)
        for killed in (False, True):
            name = f"run{killed:d}"
            trainer = same.start("train", "--out", here / name, *words(SMALL + LONG))
            self.wait_for(here / name, 20)
            self.expect(same.state(there / name)["state"] == "running", "a run of this machine runs")
            self.expect_refused(same, there / name, "is being trained")
            seen = other.state(there / name)
            self.expect(seen["state"] == "running" and seen.get("host"), f"a run of another machine: {seen}")
            self.expect_refused(other, there / name, "is being trained on")
            trainer.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
            trainer.communicate(timeout=60)
            time.sleep(1)  # the caches of the other mount
            expected = "interrupted" if killed else "stopped"
            self.expect(same.state(there / name)["state"] == expected, f"{expected}: {same.state(there / name)}")
            if not killed:
                self.expect(other.state(there / name)["state"] == "stopped", "the end is seen elsewhere")
        self.expect(other.state(there / "run1")["state"] == "running", "nobody knows yet that it is dead")

    def asleep(self, home, here, there):
        """SIGSTOP for 120 seconds, resume elsewhere, SIGCONT."""
        first = Machine(self.args.halftone, home / "first", False)
        other = Machine(self.args.halftone, home / "second", True)
        run, seen = here / "long", there / "long"
        trainer = first.start("train", "--out", run, *words(SMALL + LONG))
        self.wait_for(run, 500)
        trainer.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        self.expect_refused(other, seen, "is being trained on")
        time.sleep(45)
        self.expect_refused(other, seen, "silent for")
        time.sleep(max(0.0, stopped + 95 - time.monotonic()))
        with open(home / "out", "w+") as out:
            resumed = other.start("resume", seen, "--json", out=out)
            time.sleep(max(0.0, stopped + 120 - time.monotonic()))
            before = self.rows(seen)
            self.expect(resumed.poll() is None, "the run goes on elsewhere")
            trainer.send_signal(signal.SIGCONT)
            _, errors = trainer.communicate(timeout=60)
            self.expect(trainer.returncode == 5 and "has taken over this run" in errors,
                        f"the trainer that slept: {trainer.returncode}: {errors}")
            self.expect(first.state(run)["state"] == "running", f"{first.state(run)}")
            self.wait_for(seen, before + 100)
            for process in subprocess.run(["pgrep", "-P", str(resumed.pid)], capture_output=True,
                                          text=True).stdout.split():
                os.kill(int(process), signal.SIGTERM)
            resumed.communicate(timeout=60)
            out.seek(0)
            steps = [event["step"] for event in events_of(out.read(), "step")]
        self.expect(steps == list(range(steps[0], steps[0] + len(steps))), "steps are doubled or missing")
        kept = home / "shared" / "long"  # not over a mount, whose caches are seconds old
        events = (kept / "events.jsonl").read_text()
        ends = events_of(events, "done")
        self.expect(len(ends) == 1, f"one end, of the program that resumed it: {ends}")
        self.expect(not events_of(events, "error"), "an error of the other program")
        self.expect(self.rows(kept) == steps[-1], f"{self.rows(kept)} rows, {steps[-1]} steps")


def main():
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--halftone", required=True, help="the program")
    cli.add_argument("--long", action="store_true", help="also what takes minutes")
    cli.add_argument("--sftp-server", default=next(filter(os.path.exists, SERVERS), ""))
    args = cli.parse_args()
    if shutil.which("sshfs") is None or not args.sftp_server:
        skip("there is no sshfs or no sftp-server")
    if not os.path.exists("/dev/fuse"):
        skip("there is no FUSE")
    if subprocess.run(Machine("true", "", True).before + ["true"], capture_output=True).returncode != 0:
        skip("this user cannot make PID namespaces")
    with tempfile.TemporaryDirectory(prefix="halftone-lease-") as name:
        home = pathlib.Path(name)
        folder = home / "shared"
        folder.mkdir()
        with mounts(folder, [home / "here", home / "there"], args.sftp_server):
            test = Test(args)
            test.two_mounts(home, home / "here", home / "there")
            if args.long:
                test.asleep(home, home / "here", home / "there")
    print(f"{test.problems} problems")
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
