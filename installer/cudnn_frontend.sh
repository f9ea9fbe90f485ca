#!/usr/bin/env bash
# Fetches the headers of cudnn-frontend (by NVIDIA, MIT licence) into build/cudnn-frontend, where CMake finds them. The
# CUDA backend needs them, and no distribution packages them, so they are taken from their Python wheel. Does nothing if
# they are there. If they cannot be fetched, prints the reason and exits with 1, and the build continues without CUDA.
#
# To use a wheel that is already on the machine: cudnn_frontend.sh FILE.whl
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=1.32.0
folder=build/cudnn-frontend
[[ -e $folder/include/cudnn_frontend.h ]] && exit 0

fail() {
    echo "cudnn-frontend: $1." >&2
    [[ ${HALFTONE_CUDA:-} == 1 ]] || echo "The build goes on without CUDA." >&2
    exit 1
}
python=python3
command -v python3 >/dev/null || fail "there is no python3 to fetch its headers with"
# The Python that installer/cuda_wheels.sh made, if it ran, has pip; Debian's Python may not.
own=${XDG_DATA_HOME:-${HOME:-}/.local/share}/halftone/cuda/bin/python3
[[ ! -x $own ]] || python=$own

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=${1:-}
if [[ -z $wheel ]]; then
    "$python" -m pip --version >/dev/null 2>&1 ||
        fail "Python has no pip to fetch its headers with (Debian's package python3-pip)"
    echo "Fetching the headers of cudnn-frontend $version (3 MB, NVIDIA, MIT licence) into $folder."
    # The wheels for all Python versions contain the same headers, so a wheel for 3.11 serves any Python.
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --python-version 3.11 --implementation cp --abi cp311 \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
        --dest "$work" "nvidia-cudnn-frontend==$version" >"$work/log" 2>&1 ||
        { tail -n 2 "$work/log" >&2; fail "its headers could not be fetched"; }
    wheel=$(ls "$work"/*.whl)
fi

# Unpacked into FOLDER.new and then moved, so that an interrupted run leaves no incomplete folder.
mkdir -p "$folder"
python3 - "$wheel" "$work/unpacked" <<'PYTHON' || fail "$wheel is no wheel with headers"
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = [name for name in wheel.namelist() if name.startswith("include/") or ".dist-info/" in name and "LICENSE" in name]
    wheel.extractall(sys.argv[2], names)
PYTHON
[[ -e $work/unpacked/include/cudnn_frontend.h ]] || fail "$wheel holds no cudnn_frontend.h"
cp -r "$work/unpacked/." "$folder.new"
rm -rf "$folder"
mv "$folder.new" "$folder"
