"""The package as pip installs it: made by installer/python_package.sh, and used without the sources,
NumPy or PyTorch. Needs an interpreter with setuptools and wheel, and one that makes environments;
where either is missing the program ends as skipped."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]

TRAINING = """
import sys, halftone_watch
with halftone_watch.Watch(sys.argv[1], metrics=["accuracy"], model="MLP") as watch:
    for step in range(1, 601):
        watch.step(1 / step, samples=8, accuracy=0.5, lr=0.1, loss_scale=1024.0)
    watch.step(1e39, samples=8, loss_scale=1024.0, found_inf=True)
print(halftone_watch.__file__, "numpy" in sys.modules)
"""
VERSION = "from importlib import metadata; print(metadata.version('halftone-watch'))"


def builder():
    """An interpreter that can make the package, or None."""
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        done = subprocess.run([python, "-c", "import setuptools, wheel"], capture_output=True,
                              check=False)
        if done.returncode == 0:
            return python
    return None


def skip(why):
    print(f"skipped: {why}")
    sys.exit(support.SKIPPED)


class Installed(support.FolderTest):
    """The files that are made, and a training that uses them."""

    def make(self, folder):
        subprocess.run([ROOT / "installer" / "python_package.sh", folder], check=True,
                       timeout=support.TIMEOUT, capture_output=True,
                       env={**os.environ, "HALFTONE_PYTHON": BUILDER})
        return {file.name: file for file in folder.iterdir()}

    def run_there(self, *words):
        done = subprocess.run(list(map(str, words)), check=False, capture_output=True, text=True,
                              timeout=support.TIMEOUT, cwd=self.scratch,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.scratch)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_it_is_made_twice_alike_and_used_in_an_environment_of_its_own(self):
        made = self.make(self.scratch / "made")
        again = self.make(self.scratch / "again")
        self.assertEqual(len(made), 2)
        for name, file in made.items():
            self.assertEqual(file.read_bytes(), again[name].read_bytes(), name)
        wheel = next(file for name, file in made.items() if name.endswith("-py3-none-any.whl"))
        source = next(file for name, file in made.items() if name.endswith(".tar.gz"))

        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
        modules = {f"halftone_watch/{path.name}"
                   for path in (support.PACKAGE / "halftone_watch").iterdir() if path.is_file()}
        self.assertEqual({name for name in names if name.startswith("halftone_watch/")}, modules)
        self.assertIn("halftone_watch/py.typed", modules)
        self.assertTrue(any(name.endswith("LICENSE") for name in names))
        for line in metadata.split("\n\n")[0].splitlines():
            if line.startswith("Requires-Dist"):
                self.assertIn("extra ==", line)  # nothing is needed
        self.assertIn("License: MIT", metadata)
        with tarfile.open(source) as archive:
            licence = next(entry for entry in archive if entry.name.endswith("/LICENSE"))
            self.assertEqual(archive.extractfile(licence).read(), (ROOT / "LICENSE").read_bytes())

        place = self.scratch / "place"
        self.run_there(sys.executable, "-m", "venv", place)
        python = place / "bin" / "python"
        self.run_there(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check",
                       wheel)
        told, _ = self.halftone("--version")
        self.assertEqual(self.run_there(python, "-c", VERSION), told.split()[1])
        where, numpy = self.run_there(python, "-c", TRAINING, self.folder).split()
        self.assertTrue(where.startswith(str(place.resolve())), where)
        self.assertEqual(numpy, "False")
        out, _ = self.halftone("show", self.folder, "--json")
        shown = json.loads(out.splitlines()[0])
        self.assertEqual((shown["state"], shown["steps"], shown["skipped"]), ("done", 601, 1))
        self.assertEqual(self.steps()[-1]["loss"], "inf")  # as f32 holds 1e39


if __name__ == "__main__":
    BUILDER = builder()
    if BUILDER is None:
        skip("no interpreter has setuptools and wheel (python3-setuptools, python3-wheel)")
    if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], check=False,
                      capture_output=True).returncode != 0 or shutil.which("bash") is None:
        skip("this interpreter makes no environment (python3-venv)")
    support.main()
