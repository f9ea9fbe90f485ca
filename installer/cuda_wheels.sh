#!/usr/bin/env bash
# Fetches NVIDIA's compiler, cuBLAS and cuDNN as Python wheels into a folder in the user's home: for a machine without a CUDA
# toolkit that has an NVIDIA GPU, or for HALFTONE_CUDA=1. Wheels, because distributions do not package cuDNN 9 and wheels
# need no root. CMake and the program search that folder. Does nothing if it is complete; `rm -r` of the folder removes
# everything. If the wheels cannot be fetched, prints the reason and exits with 1, and the build continues without CUDA,
# unless HALFTONE_CUDA=1 requires it.
set -euo pipefail

folder=${XDG_DATA_HOME:-$HOME/.local/share}/halftone/cuda
# The compiler, its headers and the run time must have the same minor version. 13.0 needs driver 580 or newer.
wheels=('nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-runtime==13.0.*'
        'nvidia-cuda-cccl==13.0.*' 'nvidia-cuda-nvrtc==13.0.*' 'nvidia-cublas>=13.0,<14' 'nvidia-cudnn-cu13>=9.8,<10')
least_room_mb=4000

[[ -e $folder/complete ]] && exit 0

fail() {
    echo "CUDA: $1." >&2
    [[ ${HALFTONE_CUDA:-} == 1 ]] || echo "The build goes on without CUDA; the CPU does everything." >&2
    exit 1
}
[[ $(uname -m) == x86_64 ]] || fail "NVIDIA's wheels are fetched for x86-64 only"
python3 -c 'import venv, ensurepip' 2>/dev/null ||
    fail "Python cannot make an environment for NVIDIA's wheels (Debian's package python3-venv)"
mkdir -p "$(dirname "$folder")"
room=$(df -Pm "$(dirname "$folder")" | awk 'NR == 2 {print $4}')
((room >= least_room_mb)) || fail "NVIDIA's compiler, cuBLAS and cuDNN take $least_room_mb MB, and there are $room"

echo "No CUDA toolkit here: fetching NVIDIA's compiler, cuBLAS and cuDNN (1 GB, 2.5 GB unpacked, NVIDIA's"
echo "licence) into $folder. HALFTONE_CUDA_FETCH=no leaves that out."
python3 -m venv "$folder" || fail "no environment could be made in $folder"
# --no-deps: `wheels` already lists every wheel that is needed.
"$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps "${wheels[@]}" ||
    fail "NVIDIA's wheels could not be fetched"
touch "$folder/complete"
