#!/usr/bin/env bash
# Sourced: find_cuobjdump prints where the tool lies that lists device code; $CUOBJDUMP is looked at first.
find_cuobjdump() {
    local file
    for file in "${CUOBJDUMP:-cuobjdump}" cuobjdump "${CUDA_HOME:-/usr/local/cuda}/bin/cuobjdump" /usr/local/cuda/bin/cuobjdump \
        "${XDG_DATA_HOME:-$HOME/.local/share}"/halftone/cuda/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump \
        "${VIRTUAL_ENV:-/none}"/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump; do
        command -v "$file" && return 0
    done
    return 1
}
