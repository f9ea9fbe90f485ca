#!/usr/bin/env bash
# list_code.sh PROGRAM ARCHITECTURE...: lists the device code that the program carries, by architecture, and fails if
# code for one of the named (CMake's words: 75-real 80-real 90) is missing, or if the program is linked to a CUDA
# library: it must start where there is none. Exit code 77, with the reason, where there is no cuobjdump to look with.
set -euo pipefail
program=${1:?usage: list_code.sh PROGRAM ARCHITECTURE...}
shift
failures=0

linked=$(ldd "$program" | grep -E 'lib(cuda|cudart|cublas|cudnn|nvrtc|nccl|nvJitLink)' || true)
if [[ -n $linked ]]; then
    echo "$program is linked to CUDA libraries:"
    echo "$linked"
    failures=$((failures + 1))
else
    echo "linked to no CUDA library"
fi

# shellcheck source=find_cuobjdump.sh
source "$(dirname "$(readlink -f "$0")")/find_cuobjdump.sh"
if ! cuobjdump=$(find_cuobjdump); then
    echo "no cuobjdump (Python's wheel nvidia-cuda-cuobjdump has it): the embedded code was not listed"
    ((failures == 0)) && exit 77
    exit 1
fi

code=$("$cuobjdump" --list-elf "$program" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin$/\1/p' | sort | uniq -c)
ptx=$("$cuobjdump" --list-ptx "$program" 2>/dev/null | sed -n 's/.*\.sm_\([0-9a-z]*\)\.ptx$/compute_\1/p' | sort |
    uniq -c || true)
printf 'machine code, files by architecture:\n%s\nPTX, files by architecture:\n%s\n' "$code" "${ptx:-      none}"

for architecture in "$@"; do
    number=${architecture%%-*}
    if [[ $architecture != *-virtual && $code != *" sm_$number"* ]]; then
        echo "no machine code for sm_$number"
        failures=$((failures + 1))
    fi
    if [[ $architecture != *-real && $ptx != *" compute_$number"* ]]; then
        echo "no PTX for compute_$number"
        failures=$((failures + 1))
    fi
done
((failures == 0))
