#!/usr/bin/env bash
# Fetches the headers of cudnn-frontend (NVIDIA's, MIT licence), which the CUDA backend is built with and no
# distribution packages: out of their Python wheel, into build/cudnn-frontend, where CMake looks. Does nothing if they
# are there. Exit code 1, with the reason, if they cannot be had: then the build goes on without CUDA.
#
# A wheel that somebody has already fetched may be named: cudnn_frontend.sh FILE.whl
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=1.32.0
folder=build/cudnn-frontend
[[ -e $folder/include/cudnn_frontend.h ]] && exit 0

fail() {
    echo "cudnn-frontend: $1. The build goes on without CUDA." >&2
    exit 1
}
python=python3
command -v python3 >/dev/null || fail "there is no python3 to fetch its headers with"
# A Python of its own, where installer/cuda_wheels.sh has made one, has pip; Debian's need not.
own=${XDG_DATA_HOME:-${HOME:-}/.local/share}/halftone/cuda/bin/python3
[[ ! -x $own ]] || python=$own

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=${1:-}
if [[ -z $wheel ]]; then
    "$python" -m pip --version >/dev/null 2>&1 ||
        fail "Python has no pip to fetch its headers with (Debian's package python3-pip)"
    echo "Fetching the headers of cudnn-frontend $version (3 MB, NVIDIA, MIT licence) into $folder."
    # Headers are the same in the wheels of all Pythons, so this one need not be among those that have a wheel.
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --python-version 3.11 --implementation cp --abi cp311 \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
        --dest "$work" "nvidia-cudnn-frontend==$version" >"$work/log" 2>&1 ||
        { tail -n 2 "$work/log" >&2; fail "its headers could not be fetched"; }
    wheel=$(ls "$work"/*.whl)
fi

# Into a folder beside it first: what is half unpacked must not look complete.
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
