#!/usr/bin/env bash
# run.sh [PART...]: everything that waits for a GPU, on a machine that has one: builds here (without the window), runs
# the suite on the device, compares it with the CPU, looks with compute-sanitizer, trains the acceptance runs, and ends
# with a table. Each part takes less than ten minutes; a part that passed is not run again (build/gpu/state), so the
# same command goes on where it was cut off. With names it runs those parts, again if need be.
#
# HALFTONE_PREFIX  folder of installer/prefix.sh, where the machine lacks the libraries
# HALFTONE_DATA    folder with fashion-mnist/ and cifar100-15k/ (default: ../shared/data); runs skip without it
# HALFTONE_OUT     where logs and the table go (default: build/gpu/results)
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=build/gpu
state=$build/state
results=${HALFTONE_OUT:-$build/results}
data=${HALFTONE_DATA:-../shared/data}
python=${PYTHON:-python3}
mkdir -p "$state" "$results"
export HALFTONE_TEST_DEVICE=cuda
part_limit=590

parts=(build kernels engine golden sessions memcheck racecheck initcheck ops peer fashion steps
       resnet-fp32-1 resnet-fp32-2 resnet-fp32-3 resnet-tf32-1 resnet-amp-fp16-1 resnet-amp-bf16-1 bench)

skip() { echo "skipped: $*"; return 77; }

part_build() {
    local prefix=()
    [[ -n ${HALFTONE_PREFIX:-} ]] && prefix=(-C "$HALFTONE_PREFIX/prefix.cmake")
    cmake "${prefix[@]}" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_UI=OFF -DHALFTONE_CUDA=ON \
        -DCMAKE_CUDA_ARCHITECTURES="${HALFTONE_ARCH:-90}" -DHALFTONE_DATA_DIR="$(realpath -m "$data")" &&
        cmake --build "$build" && "$build/halftone" doctor
}

# A test program; says how many of its tests ran on the device.
tests_of() {
    local failed=0 program
    for program in "$@"; do
        echo "== $program"
        "$build/tests/$program" --gtest_brief=1 || failed=1
    done
    return $failed
}
part_kernels() { tests_of kernels/cuda_kernels_test; }
part_engine() {
    tests_of engine/core/core_test engine/ops/ops_test engine/amp/amp_test engine/amp/autocast_test \
        engine/optim/optim_test engine/train/device_test
}
part_golden() { tests_of peer/golden_test; }
part_sessions() { tests_of engine/train/session_test; }

sanitize() {  # TOOL: over the kernels' tests and one captured step
    command -v compute-sanitizer > /dev/null || { skip "no compute-sanitizer here"; return; }
    compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 20 "${@:2}" \
        "$build/tests/kernels/cuda_kernels_test" --gtest_brief=1
}
part_memcheck() { sanitize memcheck --leak-check no; }
part_racecheck() { sanitize racecheck; }
part_initcheck() { sanitize initcheck; }

# Every op of the catalog with random shapes, strides and types against PyTorch's arithmetic, on the device.
part_ops() {
    "$python" -c 'import torch, safetensors' 2> /dev/null || { skip "no PyTorch here"; return; }
    "$python" tests/peer/op_cases.py --halftone "$build/halftone" --device cuda --cases 40
}
part_peer() {
    "$python" -c 'import torch, safetensors; raise SystemExit(not torch.cuda.is_available())' 2> /dev/null ||
        { skip "no PyTorch with CUDA here"; return; }
    "$python" tests/peer/op_peer_device.py --halftone "$build/halftone" --device cuda --cases 24
}
part_fashion() {
    [[ -d $data/fashion-mnist ]] || { skip "no Fashion-MNIST in $data"; return; }
    "$python" tests/peer/fashion_accuracy.py --halftone "$build/halftone" --device cuda --data "$data/fashion-mnist" --seeds 3
}
part_steps() {
    [[ -d $data/cifar100-15k ]] || { skip "no CIFAR-100 pack in $data"; return; }
    "$python" tests/peer/resnet18_steps.py --halftone "$build/halftone" --device cuda --data "$data/cifar100-15k" --steps 20
}
resnet() {  # PRECISION SEED: 30 epochs; the table compares the ends
    [[ -d $data/cifar100-15k ]] || { skip "no CIFAR-100 pack in $data"; return; }
    "$build/halftone" train --json --out "$build/runs/resnet-$1-$2-$$" --set dataset.kind=cifar100 \
        --set dataset.path="$data/cifar100-15k" --set dataset.augment=true --set model.kind=resnet18 \
        --set epochs=30 --set batch_size=128 --set optimizer.lr=0.1 --set schedule.kind=cosine --set device=cuda \
        --set precision.preset="$1" --set seed="$2" | grep -E '"event":"(epoch|done|error|warning)"'
}
part_bench() {
    local precision
    for precision in fp32 tf32 amp-fp16 amp-bf16; do
        "$build/halftone" bench --set device=cuda --set dataset.kind=cifar100 --set model.kind=resnet18 \
            --set batch_size=128 --set precision.preset="$precision" || return 1
    done
}

run_part() {
    local part=$1 log=$results/$1.log start=$SECONDS code
    case $part in
        resnet-*) local rest=${part#resnet-}; timeout "$part_limit" "$0" --inside resnet "${rest%-*}" "${rest##*-}" ;;
        *) timeout "$part_limit" "$0" --inside "part_$part" ;;
    esac > "$log" 2>&1
    code=$?
    case $code in
        0) echo "passed in $((SECONDS - start)) s" > "$state/$part" ;;
        77) echo "$(tail -1 "$log")" > "$state/$part" ;;
        124) echo "FAILED: not done in $part_limit s" > "$state/$part" ;;
        *) echo "FAILED with exit code $code: $log" > "$state/$part" ;;
    esac
    echo "$part: $(cat "$state/$part")"
    if [[ $code != 0 && $code != 77 ]]; then tail -15 "$log"; fi
}

table() {
    echo
    echo "| part | result | last word |"
    echo "| --- | --- | --- |"
    local part
    for part in "${parts[@]}"; do
        [[ -e $state/$part ]] || continue
        echo "| $part | $(cat "$state/$part") | $(grep -E 'tests? ran|PASSED|ERROR SUMMARY|cases,|lowest run|"event":"done"|within' "$results/$part.log" 2> /dev/null | tail -1 | cut -c1-160) |"
    done
}

if [[ ${1:-} == --inside ]]; then
    shift
    "$@"
    exit
fi
if (($# > 0)); then
    for part in "$@"; do rm -f "$state/$part"; done
    chosen=("$@")
else
    chosen=("${parts[@]}")
fi
for part in "${chosen[@]}"; do
    if [[ -e $state/$part ]] && ! grep -q FAILED "$state/$part"; then
        echo "$part: $(cat "$state/$part") (before)"
        continue
    fi
    run_part "$part"
    if [[ $part == build ]] && grep -q FAILED "$state/build"; then break; fi
done
table | tee "$results/table.md"
! grep -qs FAILED "$state"/*
