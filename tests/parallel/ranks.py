"""Starts `halftone` as several ranks and finds their processes."""

import ipaddress
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time
import uuid

# Settings of an MLP on spirals: a step takes a millisecond, and every checkpoint is small.
SETTINGS = ["dataset.kind=spirals", "model.kind=mlp", "device=cpu", "epochs=1000000", "threads=1"]
LIMIT_S = 30  # from the moment a rank is lost until nothing is left running


OVERSUBSCRIBE = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def environment(home, mark):
    """The user's variables, a history and temporary files for this test alone, and permission for root and for more ranks than
    cores. Open MPI 5 reads the PRTE_ variable, Open MPI 4 the OMPI_MCA_ variable, and both read the permission for root."""
    added = {
        "XDG_DATA_HOME": str(home),
        "TMPDIR": str(home),  # mpirun that is killed leaves a folder there
        "HALFTONE_TEST_MARK": mark,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        **OVERSUBSCRIBE,
    }
    return {**os.environ, **added}


def one_slot(folder):
    """Variables for a machine of one core, in which mpirun refuses two ranks unless it is told otherwise."""
    hosts = folder / "hosts"
    hosts.write_text("localhost slots=1\n")
    return {"OMPI_MCA_orte_default_hostfile": str(hosts), "PRTE_MCA_prte_default_hostfile": str(hosts)}


def with_last_different(ranks, command, more):
    """A command whose last rank gets `more` words. A shell in each rank chooses: with several commands, joined by a colon,
    mpirun of Open MPI 5.0.7 crashes."""
    choose = ('test "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}" = "$0" || exec "$@"\n'
              f'exec "$@" {shlex.join(more)}')
    return ["mpirun", "-n", str(ranks), "sh", "-c", choose, str(ranks - 1), *command]


def words(overrides):
    return [word for override in overrides for word in ("--set", override)]


def state_of(pid):
    """The letter of proc(5): T for stopped, Z and X for ended; None if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return None


class Launch:
    """A command that becomes several ranks. Its output goes to files, so nobody has to read it."""

    def __init__(self, command, home, folder, settings=None, output=None):
        """`settings` replaces OVERSUBSCRIBE in the environment; `output` is a descriptor that replaces the file."""
        self.mark = uuid.uuid4().hex
        self.output, self.errors = folder / f"{self.mark}.out", folder / f"{self.mark}.err"
        variables = environment(home, self.mark)
        if settings is not None:
            variables = {name: value for name, value in variables.items() if name not in OVERSUBSCRIBE} | settings
        with open(self.output, "wb") as out, open(self.errors, "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out if output is None else output,
                                            stderr=err, env=variables)

    def events(self, kind):
        events = []
        for line in self.output.read_text(errors="replace").splitlines():
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue  # the line that is being written
            if event.get("event") == kind:
                events.append(event)
        return events

    def error_text(self):
        return self.errors.read_text(errors="replace")

    def sentences(self):
        # Open MPI 5 writes the zero byte that ends its own text, before what follows.
        lines = [line.lstrip("\0 ") for line in self.error_text().splitlines()]
        return [line for line in lines if line.startswith("halftone: ")]

    def pids(self):
        """rank: process, of those that are alive."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                text = (entry / "environ").read_bytes().decode(errors="replace")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except (OSError, IndexError):
                continue
            rank = re.search(r"\0(?:OMPI_COMM_WORLD_RANK|PMI_RANK|PMIX_RANK)=(\d+)\0", "\0" + text + "\0")
            if f"HALFTONE_TEST_MARK={self.mark}" in text and rank and state not in "ZX":
                found[int(rank.group(1))] = int(entry.name)
        return found

    def left_running(self):
        """Processes of this launch, the launcher too."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                text = (entry / "environ").read_bytes().decode(errors="replace")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except (OSError, IndexError):
                continue
            if f"HALFTONE_TEST_MARK={self.mark}" in text and state not in "ZX":
                found.append(int(entry.name))
        return found

    def wait_for_steps(self, least, seconds=60):
        """False if the launch ends or takes longer."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            steps = self.events("step")
            if steps and steps[-1]["step"] >= least:
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.05)
        return False

    def finish(self, seconds):
        """The exit code; None if it has not ended by then, and then it is killed."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            for pid in self.left_running():
                os.kill(pid, signal.SIGKILL)
            self.process.wait()
            return None


def _is_loopback(address):
    """Whether an address as /proc/net/tcp has it is one of the loopback: words of four bytes, the first one last."""
    parts = [bytes.fromhex(address[i:i + 8])[::-1] for i in range(0, len(address), 8)]
    found = ipaddress.ip_address(b"".join(parts))
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def reachable(pid):
    """The sockets of a process that do not belong to the loopback interface. In a network of its own nothing but that
    interface is there, and an address of all interfaces means it alone."""
    home = pathlib.Path("/proc") / str(pid)
    try:
        interfaces = {line.split(":")[0].strip() for line in (home / "net/dev").read_text().splitlines()[2:]}
        if interfaces == {"lo"}:
            return []
        inodes = {os.readlink(file) for file in (home / "fd").iterdir()}
        name = (home / "comm").read_text().strip()
        return [f"{name} {pid}: {kind} {fields[1]} to {fields[2]}"
                for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6")
                for fields in map(str.split, (home / "net" / kind).read_text().splitlines()[1:])
                if f"socket:[{fields[9]}]" in inodes and not _is_loopback(fields[1].split(":")[0])]
    except OSError:
        return []  # it has ended


class Problems:
    """Collects what was wrong, and says each at once."""

    def __init__(self):
        self.count = 0

    def expect(self, is_right, text):
        if not is_right:
            self.count += 1
            print("WRONG:", text, flush=True)
        return is_right
