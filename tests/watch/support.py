"""Shared by the tests of the Python package. They need NumPy, and the program that reads what the
package writes; without NumPy a test program ends with 77, which CTest takes for skipped."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "resources" / "python"
sys.path.insert(0, str(PACKAGE))
SKIPPED = 77
TIMEOUT = 120  # seconds: a program that waits forever is a failure

arguments = argparse.Namespace(halftone=None)


def need(module):
    """Imports a module, or ends the program as skipped."""
    try:
        return __import__(module)
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)


def main():
    """Runs the unittests of the calling program."""
    cli = argparse.ArgumentParser()
    cli.add_argument("--halftone", required=True, help="the program")
    known, rest = cli.parse_known_args()
    arguments.halftone = known.halftone
    unittest.main(module="__main__", argv=sys.argv[:1] + rest, verbosity=2)


class FolderTest(unittest.TestCase):
    """A test with a scratch folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="halftone-watch-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder = self.scratch / "run"

    def halftone(self, *args, code=0):
        """Runs the program with a history of its own. Returns its output and its errors. Its threads sleep while they wait:
        where other tests use the processors, threads that spin take minutes for a step."""
        done = subprocess.run([arguments.halftone, *map(str, args)], capture_output=True, text=True,
                              timeout=TIMEOUT, check=False,
                              env={"HOME": str(self.scratch), "PATH": "/usr/bin", "OMP_WAIT_POLICY": "passive"})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def watched(self, *args, folder=None, code=0):
        """The events of the folder as `halftone watch` prints them."""
        out, self.errors = self.halftone("watch", folder or self.folder, "--json", *args, code=code)
        return [json.loads(line) for line in out.splitlines()]

    def steps(self, *args):
        """The steps of the folder."""
        return [event for event in self.watched(*args) if event["event"] == "step"]

    def python(self, code, *args):
        """A Python program that can import the package, as a child process."""
        return subprocess.Popen([sys.executable, "-c", code, *map(str, args)],
                                env={"PYTHONPATH": str(PACKAGE), "PATH": "/usr/bin",
                                     "HOME": str(self.scratch)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
