#!/usr/bin/env bash
# tests/cpu_levels.sh [--build FOLDER] [--log FOLDER] [PROGRAM...]: runs the numerical test programs at each level of
# HALFTONE_CPU that this machine has, and the kernels' promises on a processor without SSE4.1, which qemu-x86_64 (package
# qemu-user) simulates. Prints a Markdown table; exit code 1 if a case failed. The programs must have been built.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/dev
logs=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --build) build=$2 ;;
        --log) logs=$2 ;;
        *) echo "cpu_levels.sh: unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
programs=("$@")
[[ ${#programs[@]} -gt 0 ]] || programs=(kernels_test ops_test nn_test amp_test)
[[ -n $logs ]] || logs=$(mktemp -d)
mkdir -p "$logs"

# Simulation takes fifty times as long, and more for large products.
simulated_filter='SameBits.OfProducts:Conv2dInfinity.*:CpuInfo.*:Gemm.*:Conv2d.*:Softmax.*:LayerNorm.*:Cast.*'
simulated_cpu=qemu64
failed=0

path_of() {
    find "$build/tests" -type f -name "$1" -perm -u+x | sed -n 1p
}

# row LEVEL PROGRAM COMMAND...: runs the command and prints a line of the table.
row() {
    local level=$1 program=$2 log status=0 started
    shift 2
    log=$logs/$level-$program.log
    started=$SECONDS
    env -u HALFTONE_CPU "$@" >"$log" 2>&1 || status=$?
    local ran skipped bad
    ran=$(sed -n 's/^\[==========\] \([0-9]*\) tests\{0,1\} from .* ran\..*/\1/p' "$log")
    skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, .*/\1/p' "$log")
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) tests\{0,1\}, .*/\1/p' "$log")
    if [[ -z $ran ]]; then bad="ended with code $status"; fi
    [[ $status == 0 ]] || failed=1
    echo "| $level | $program | ${ran:-} | ${skipped:-0} | ${bad:-0} | $((SECONDS - started)) |"
    if [[ $status != 0 ]]; then sed -n 's/^\[  FAILED  \] \([^ ]*\)$/    \1/p' "$log" | sort -u >&2; fi
}

echo "Processor: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | sed -n 1p), $(nproc) processors, $(date +%F)"
echo
echo "| level | program | cases | skipped | failed | seconds |"
echo "| --- | --- | --- | --- | --- | --- |"
for level in sse2 avx2 avx512 avx512_bf16 amx; do
    for program in "${programs[@]}"; do
        file=$(path_of "$program")
        if [[ -z $file ]]; then
            echo "cpu_levels.sh: $program has not been built in $build" >&2
            failed=1
            continue
        fi
        if HALFTONE_CPU=$level "$file" --gtest_list_tests 2>&1 | grep "this processor lacks the level" > /dev/null; then
            echo "| $level | $program | | | not on this processor | |"
            continue
        fi
        row "$level" "$program" env HALFTONE_CPU="$level" "$file"
    done
done
file=$(path_of kernels_test)
if [[ -n $file ]] && command -v qemu-x86_64 >/dev/null; then
    row "$simulated_cpu" kernels_test qemu-x86_64 -cpu "$simulated_cpu" "$file" --gtest_filter="$simulated_filter"
    echo
    echo "$simulated_cpu is simulated: SSE3 without SSE4.1. It ran $simulated_filter."
else
    echo "cpu_levels.sh: no qemu-x86_64: the processor without SSE4.1 was not tested" >&2
fi
echo "Logs: $logs" >&2
exit "$failed"
