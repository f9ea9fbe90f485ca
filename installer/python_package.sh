#!/usr/bin/env bash
# python_package.sh [FOLDER]: makes the source distribution and the wheel of halftone-watch (resources/python) in FOLDER
# (default: build/python), for `pip install FILE` or an upload. Works on a copy; needs Python 3.9 with setuptools 61 and
# wheel (packages python3-setuptools and python3-wheel), and no network. Two builds of one commit are equal.
#
# HALFTONE_PYTHON  the interpreter (default: python3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/python}")
python=${HALFTONE_PYTHON:-python3}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# The backend makes a wheel without the package wheel since 70.1.
"$python" - 2>/dev/null <<'END' || {
import setuptools
if tuple(map(int, setuptools.__version__.split(".")[:2])) < (70, 1):
    import wheel
    assert int(setuptools.__version__.split(".")[0]) >= 61
END
    echo "python_package.sh: $python lacks setuptools 61 or wheel; install python3-setuptools and python3-wheel" >&2
    exit 1
}
mkdir -p "$copy/resources" "$out"
cp CMakeLists.txt "$copy"
cp -rL resources/python "$copy/resources"
find "$copy" -name __pycache__ -prune -exec rm -rf {} +
find "$copy" -exec touch -h -d @0 {} +
cd "$copy/resources/python"
# 1980 is the first year that a wheel's times can have.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800} "$python" -W ignore - "$out" >/dev/null <<'END'
import gzip, io, os, pathlib, sys, tarfile
from setuptools import build_meta

out, time = pathlib.Path(sys.argv[1]), int(os.environ["SOURCE_DATE_EPOCH"])
source = out / build_meta.build_sdist(str(out))
# The archive and its compression hold the time of day and the user.
plain = io.BytesIO()
with tarfile.open(source) as made, tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as clean:
    for entry in made:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.pax_headers = time, 0, 0, "", "", {}
        clean.addfile(entry, made.extractfile(entry) if entry.isfile() else None)
source.write_bytes(gzip.compress(plain.getvalue(), mtime=0))
wheel = out / build_meta.build_wheel(str(out))
print(source, wheel, sep="\n", file=sys.stderr)
END
