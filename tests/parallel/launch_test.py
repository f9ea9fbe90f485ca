"""How a run becomes several processes: by mpirun, by `workers`, and what is refused."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from ranks import Launch, Problems, SETTINGS, one_slot, reachable, with_last_different, words

SHORT = SETTINGS[:3] + ["epochs=1000", "max_steps=20", "threads=1"]


class Tests:
    def __init__(self, halftone, folder, launcher, lacking):
        self.halftone, self.folder, self.launcher, self.lacking = halftone, folder, launcher, lacking
        self.problems = Problems()

    def train(self, *overrides, ranks=0, more=()):
        """With `ranks` under the launcher, else alone."""
        before = [*self.launcher, "-n", str(ranks)] if ranks else []
        return Launch(before + [self.halftone, "train", "--json", *words(SHORT + list(overrides)),
                                *more], self.folder, self.folder)

    def expect_code(self, launch, code, what, sentence=""):
        found = launch.finish(60)
        text = launch.error_text()
        self.problems.expect(found == code, f"{what}: exit code {found}, not {code}: {text}")
        if sentence:
            said = [line for line in text.splitlines() if sentence in line]
            self.problems.expect(len(said) == 1, f"{what}: '{sentence}' said {len(said)} times: {text}")
        self.problems.expect(not launch.left_running(), f"{what}: processes are left running")

    def check_whole_run(self, launch, workers, what):
        self.expect_code(launch, 0, what)
        starts, steps = launch.events("start"), launch.events("step")
        self.problems.expect(len(starts) == 1, f"{what}: {len(starts)} start events")
        if starts:
            found = starts[0]["config"].get("workers")
            self.problems.expect(found == workers, f"{what}: started with {found} workers")
        self.problems.expect([step["step"] for step in steps] == list(range(1, 21)),
                             f"{what}: steps {[step['step'] for step in steps]}")
        self.problems.expect(len(launch.events("done")) == 1, f"{what}: no end")
        return [step["loss"] for step in steps]

    def launcher_and_workers_train_the_same_run(self):
        alone = self.check_whole_run(self.train("workers=2"), 2, "workers=2")
        under = self.check_whole_run(self.train(ranks=2), 2, "-n 2")
        both = self.check_whole_run(self.train("workers=2", ranks=2), 2, "both")
        self.problems.expect(alone == under == both, f"losses differ: {alone} {under} {both}")

    def no_other_machine_can_reach_a_run_of_one_machine(self):
        command = [self.halftone, "train", "--json", *words(SETTINGS + ["workers=2"])]
        launch = Launch(command, self.folder, self.folder)
        self.problems.expect(launch.wait_for_steps(20), f"no steps: {launch.error_text()}")
        found = [line for pid in launch.left_running() for line in reachable(pid)]
        self.problems.expect(len(launch.pids()) == 2, f"ranks {launch.pids()}")
        launch.process.send_signal(signal.SIGINT)
        self.expect_code(launch, 0, "the run whose ports were looked at")
        shared = "gives the run no network of its own" in launch.error_text()
        if shared:
            print("ports: not looked at, since this system has no network namespaces")
        else:
            self.problems.expect(not found, "sockets that are not of the loopback interface:\n" + "\n".join(found))

    def rank_0_writes_to_the_files_that_the_program_was_given(self):
        """Then no line of it goes through mpirun, which loses some: every line is whole, and every step has one."""
        command = [self.halftone, "train", "--json", *words(SETTINGS + ["workers=2"])]
        launch = Launch(command, self.folder, self.folder)
        self.problems.expect(launch.wait_for_steps(500), f"no steps: {launch.error_text()}")
        pids = launch.pids()
        self.problems.expect(sorted(pids) == [0, 1], f"ranks {pids}")
        for rank, pid in pids.items():
            for number, file in ((1, launch.output), (2, launch.errors)):
                is_given = os.path.samefile(f"/proc/{pid}/fd/{number}", file)
                self.problems.expect(is_given == (rank == 0), f"rank {rank}, descriptor {number}: {is_given}")
        launch.process.send_signal(signal.SIGINT)
        self.expect_code(launch, 0, "the run whose output was looked at")
        events = []
        for line in launch.output.read_text().splitlines():
            try:
                events.append(json.loads(line))
            except json.JSONDecodeError:
                self.problems.expect(False, f"not a whole line: {line}")
        steps = [event["step"] for event in events if event["event"] == "step"]
        self.problems.expect(steps == list(range(1, len(steps) + 1)), f"{len(steps)} steps, not each once")
        self.problems.expect(not [line for line in launch.error_text().splitlines() if '"event"' in line],
                             f"events among the errors: {launch.error_text()}")

    def a_reader_that_leaves_is_no_failure(self):
        """As with one process the run is saved and ends."""
        for workers in (1, 2):
            command = [self.halftone, "train", "--json", *words(SETTINGS + [f"workers={workers}"])]
            read_end, write_end = os.pipe()
            launch = Launch(command, self.folder, self.folder, output=write_end)
            os.close(write_end)
            self.problems.expect(os.read(read_end, 1), f"workers={workers}: no output: {launch.error_text()}")
            os.close(read_end)
            self.expect_code(launch, 0, f"workers={workers} whose reader leaves")
            self.problems.expect("cannot be written" not in launch.error_text(), launch.error_text())

    def another_number_of_workers_is_refused(self):
        self.expect_code(self.train("workers=3", ranks=2), 2, "workers=3 under -n 2",
                         "workers: 3: use 2")
        self.expect_code(self.train("workers=200"), 2, "more workers than samples",
                         "each worker needs a sample")
        self.expect_code(self.train("nonsense=1", ranks=2), 2, "an unknown field")

    def without_mpirun_workers_are_refused(self):
        path = os.environ["PATH"]
        os.environ["PATH"] = str(self.folder / "nothing")
        try:
            launch = self.train("workers=2")
        finally:
            os.environ["PATH"] = path
        self.expect_code(launch, 4, "no mpirun", "which is not in PATH")

    def open_mpi_is_opened_and_not_linked(self):
        if not self.lacking:
            print("this build is linked with its MPI")
            return
        loaded = subprocess.run(["ldd", self.halftone], capture_output=True, text=True, check=True).stdout
        self.problems.expect("libc.so" in loaded, f"ldd shows no libraries: {loaded}")
        self.problems.expect("libmpi" not in loaded, f"linked with MPI: {loaded}")

    def without_open_mpi_a_sentence_names_the_package(self):
        if not self.lacking:
            return
        damaged = self.folder / "damaged" / self.lacking.name
        damaged.parent.mkdir()
        damaged.write_text("no library")
        ranks = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
        for library, why in ((self.lacking, "has no MPI_Testsome"), (damaged, str(damaged))):
            place = {"LD_LIBRARY_PATH": str(library.parent)}
            for more, sentence in (({}, "Debian's package openmpi-bin), which cannot be opened"),
                                   (ranks, "one of several ranks, and Open MPI cannot be opened")):
                command = [self.halftone, "train", "--json", *words(SHORT + ["workers=2"])]
                launch = Launch(command, self.folder, self.folder, settings=place | more)
                self.expect_code(launch, 4, f"{library}", sentence)
                self.problems.expect(why in launch.error_text(), f"{library}: not why: {launch.error_text()}")
            found = self.doctor(place)
            self.problems.expect(found["built"] and not found["library"] and "openmpi-bin" in found["problem"],
                                 f"{library}: {found}")
            alone = Launch([self.halftone, "train", "--json", *words(SHORT)], self.folder, self.folder, settings=place)
            self.expect_code(alone, 0, f"one worker with {library}")

    def the_library_beside_mpirun_is_opened(self):
        if not self.lacking:
            return
        place = self.folder / "prefix"
        (place / "bin").mkdir(parents=True)
        (place / "lib").mkdir()
        shutil.copy("/bin/true", place / "bin" / "mpirun")
        shutil.copy(self.lacking, place / "lib" / self.lacking.name)
        found = self.doctor({"PATH": f"{place / 'bin'}:{os.environ['PATH']}"})
        self.problems.expect(found["file"] == str(place / "lib" / self.lacking.name), f"beside mpirun: {found}")

    def doctor(self, settings):
        ended = subprocess.run([self.halftone, "doctor", "--json"], capture_output=True, text=True, check=True,
                               env={**os.environ, **settings})
        return json.loads(ended.stdout)["mpi"]

    def more_workers_than_cores_train(self):
        """Without the tests' own permission: the program asks mpirun for it."""
        command = [self.halftone, "train", "--json", *words(SHORT + ["workers=2"])]
        launch = Launch(command, self.folder, self.folder, settings=one_slot(self.folder))
        self.check_whole_run(launch, 2, "workers=2 on one core")

    def ranks_with_other_settings_are_named(self):
        one = [self.halftone, "train", "--json", *words(SHORT)]
        command = with_last_different(3, one, ["--set", "seed=7"])
        self.expect_code(Launch(command, self.folder, self.folder), 5, "other settings",
                         "Rank 2 has other settings than rank 0: seed.")

    def settings_that_one_rank_cannot_read_are_named(self):
        one = [self.halftone, "train", "--json", *words(SHORT)]
        command = with_last_different(2, one, ["--set", "optimizer.lr=fast"])
        launch = Launch(command, self.folder, self.folder)
        launch.finish(60)
        said = [line for line in launch.sentences() if "Rank 1: optimizer.lr" in line]
        self.problems.expect(len(said) == 1, f"one rank's settings: {launch.error_text()}")

    def ctrl_c_saves_the_run(self):
        command = [self.halftone, "train", "--json", *words(SETTINGS + ["workers=2"])]
        for number in (signal.SIGINT, signal.SIGTERM):
            launch = Launch(command, self.folder, self.folder)
            self.problems.expect(launch.wait_for_steps(20), "no steps before the stop")
            launch.process.send_signal(number)
            self.expect_code(launch, 0, f"stopped by {number.name}")
            done = launch.events("done")
            self.problems.expect([event["reason"] for event in done] == ["stopped"],
                                 f"{number.name}: {done}")
            self.problems.expect(launch.events("checkpoint"), f"{number.name}: nothing saved")

    def a_run_goes_on_with_another_number_of_ranks(self):
        home = self.folder / "resumed"
        command = [self.halftone, "train", "--json", "--out", str(home),
                   *words(SHORT + ["workers=2", "max_steps=30"])]
        self.expect_code(Launch(command, self.folder, self.folder), 0, "the run before")
        for ranks in (1, 2, 4):
            what = f"resumed with {ranks}"
            out = self.folder / f"resumed-{ranks}"
            launch = Launch([self.halftone, "resume", str(home), "--json", "--out", str(out),
                             "--schedule", "stretch", *words([f"workers={ranks}", "max_steps=40"])],
                            self.folder, self.folder)
            self.expect_code(launch, 0, what)
            steps = [event["step"] for event in launch.events("step")]
            self.problems.expect(steps[-10:] == list(range(31, 41)), f"{what}: steps {steps}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halftone", required=True)
    parser.add_argument("--launcher", default="mpirun", help='or "srun --mpi=pmix"')
    parser.add_argument("--lacking", type=pathlib.Path, help="of a program that opens Open MPI: a library like it that lacks MPI_Testsome")
    parser.add_argument("--only", help="name of one test")
    args = parser.parse_args()
    if shutil.which("mpirun") is None:
        print("there is no mpirun")
        return 77
    with tempfile.TemporaryDirectory(prefix="halftone-launch-") as folder:
        tests = Tests(args.halftone, pathlib.Path(folder), args.launcher.split(), args.lacking)
        for name in [name for name in vars(Tests) if not name.startswith("_")]:
            is_test = name not in ("train", "expect_code", "check_whole_run", "doctor")
            if is_test and args.only in (None, name):
                print(name, flush=True)
                getattr(tests, name)()
        return 1 if tests.problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
