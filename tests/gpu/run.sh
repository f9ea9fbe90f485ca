#!/usr/bin/env bash
# run.sh [PART...]: everything that waits for a GPU, on a machine that has one: builds here (without the window), runs
# the suite on the device, compares it with PyTorch, looks with compute-sanitizer, trains the acceptance runs, measures
# speed, and ends with a table. Parts stand in groups, the most telling first; the parts of a group run side by side.
# Each part ends within ten minutes; a part that passed is not run again (build/gpu/state), so the same command goes on
# where it was cut off. With names it runs those parts, again if need be.
#
# HALFTONE_PREFIX   folder of installer/prefix.sh, where the machine lacks the libraries
# HALFTONE_DATA     folder with fashion-mnist/ and cifar100-15k/ (default: ../shared/data); runs skip without it
# HALFTONE_OUT      where logs and the table go (default: build/gpu/results)
# HALFTONE_BUILD    the build (default: build/gpu)
# HALFTONE_ARCH     the architecture to build for (default: 90)
# HALFTONE_SECONDS  ends after so many: what is cut off then is taken up by the next call (default: no end)
# PYTHON            the Python that has PyTorch (default: python3)
#
# Sizes, to be made small for a rehearsal: HALFTONE_CASES (cases an op, 40), HALFTONE_PEER_CASES (24), HALFTONE_STEPS
# (20), HALFTONE_STEPS_BATCH (64), HALFTONE_SEEDS (3), HALFTONE_EPOCHS (30), HALFTONE_TRAIN_LIMIT (0: all samples),
# HALFTONE_TESTS (a filter of GoogleTest), HALFTONE_SHARES (processes that share a comparison, 4),
# HALFTONE_BENCH (arguments of tests/bench/gpu_peer.py).
# HALFTONE_REHEARSAL=1  no GPU: the programs of a build that is there, on the simulated device. Shows that this works.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=${HALFTONE_BUILD:-build/gpu}
data=${HALFTONE_DATA:-../shared/data}
python=${PYTHON:-python3}
shares=${HALFTONE_SHARES:-4}
rehearsal=${HALFTONE_REHEARSAL:-}
if [[ $rehearsal ]]; then
    program=$build/tests/app/halftone_simt simulated=_simt state=$build/rehearsal
else
    program=$build/halftone simulated='' state=$build/state
fi
results=${HALFTONE_OUT:-$state/../results}
mkdir -p "$state" "$results"
results=$(realpath "$results")
export HALFTONE_TEST_DEVICE=cuda
part_limit=590

groups=("build"
        "kernels engine golden sessions"
        "ops specials steps fashion"
        "bench"
        "resnet-fp32-1 resnet-fp32-2 resnet-fp32-3 resnet-tf32-1 resnet-amp-fp16-1 resnet-amp-bf16-1"
        "accuracy"
        "peer memcheck"
        "initcheck racecheck")
read -ra parts <<< "${groups[*]}"

kernel_tests=(kernels/kernels_test)
kernel_cases=${HALFTONE_TESTS:-Cuda*:PutBytes.*}  # those of the device
engine_tests=(engine/core_test engine/ops_test engine/nn_test engine/amp_test engine/autocast_test engine/optim_test
              engine/device_test)
other_tests=(peer/golden_test engine/session_test)

skip() { echo "skipped: $*"; return 77; }

part_build() {
    local targets=() test
    for test in "${kernel_tests[@]}" "${engine_tests[@]}" "${other_tests[@]}"; do
        targets+=("$(basename "$test")$simulated")
    done
    if [[ $rehearsal ]]; then
        cmake --build "$build" --target halftone_simt "${targets[@]}" || return
    else
        local prefix=()
        [[ -n ${HALFTONE_PREFIX:-} ]] && prefix=(-C "$HALFTONE_PREFIX/prefix.cmake")
        cmake "${prefix[@]}" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_UI=OFF -DHALFTONE_CUDA=ON -DHALFTONE_MPI=OFF \
            -DCMAKE_CUDA_ARCHITECTURES="${HALFTONE_ARCH:-90}" -DHALFTONE_DATA_DIR="$(realpath -m "$data")" &&
            cmake --build "$build" --target halftone "${targets[@]}" || return
    fi
    "$program" doctor | tee "$results/doctor.txt"
    grep '^cuda:0' "$results/doctor.txt" || { echo "no device that this program can use"; return 1; }
}

# Test programs, side by side. Each must have run at least one test to its end on the device; a skipped one says why.
tests_of() {
    local failed=0 program name jobs=() i=0 code ran skipped
    for program in "$@"; do
        name=$(basename "$program")
        rm -f "$results/$name.xml"
        "$build/tests/$program$simulated" --gtest_brief=1 --gtest_filter="${HALFTONE_TESTS:-*}" \
            --gtest_output="xml:$results/$name.xml" > "$results/$name.txt" 2>&1 &
        jobs+=($!)
    done
    for program in "$@"; do
        name=$(basename "$program")
        wait "${jobs[$i]}"
        code=$? i=$((i + 1))
        ran=$(grep -c 'result="completed"' "$results/$name.xml" 2> /dev/null || true)
        skipped=$(grep -c 'result="skipped"' "$results/$name.xml" 2> /dev/null || true)
        grep -vE '^Running main|^Note: ' "$results/$name.txt" | tail -40
        grep -hoE '<skipped message="[^"]*' "$results/$name.xml" 2> /dev/null | sed 's/.*message="/skipped: /; s/&#x0A;/ /g' |
            sort | uniq -c | sort -rn | head -5
        echo "== $name: ${ran:-0} tests ran on the device, ${skipped:-0} skipped, exit code $code"
        ((code == 0 && ${ran:-0} > 0)) || failed=1
    done
    return $failed
}
part_kernels() { HALFTONE_TESTS=$kernel_cases tests_of "${kernel_tests[@]}"; }
part_engine() { tests_of "${engine_tests[@]}"; }
part_golden() { tests_of peer/golden_test; }
part_sessions() { tests_of engine/session_test; }

# TOOL OPTIONS...: over our own kernels in their tests, and a captured step; refused calls are part of some tests.
sanitize() {
    command -v compute-sanitizer > /dev/null || { skip "no compute-sanitizer here"; return; }
    local tool=$1 share failed=0 jobs=()
    shift
    rm -f "$results/$tool"-*.txt
    for ((share = 0; share < shares; ++share)); do
        GTEST_TOTAL_SHARDS=$shares GTEST_SHARD_INDEX=$share compute-sanitizer --tool "$tool" --error-exitcode 9 \
            --print-limit 20 --port $((49152 + 100 * share + RANDOM % 90)) "$@" \
            "$build/tests/kernels/kernels_test$simulated" --gtest_brief=1 --gtest_filter="$kernel_cases" \
            > "$results/$tool-$share.txt" 2>&1 &
        jobs+=($!)
    done
    compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 --port 48900 "$@" \
        "$build/tests/engine/device_test$simulated" --gtest_brief=1 --gtest_filter='*DeviceStep.Replays*' \
        > "$results/$tool-step.txt" 2>&1 &
    jobs+=($!)
    for share in "${jobs[@]}"; do wait "$share" || failed=1; done
    tail -n 25 "$results/$tool"-*.txt
    if grep -LE '\] [1-9][0-9]* tests? from' "$results/$tool"-*.txt | grep .; then
        echo "$tool: no test ran there"
        failed=1
    fi
    grep -hoE '(ERROR|RACECHECK) SUMMARY: [0-9]+' "$results/$tool"-*.txt |
        awk -v tool="$tool" '{n += $3} END {print tool ": " NR " runs with a summary, " n + 0 " findings"}'
    return $failed
}
part_memcheck() { sanitize memcheck --leak-check no --report-api-errors no; }
part_racecheck() { sanitize racecheck --kernel-name kns=kernels4cuda; }
part_initcheck() { sanitize initcheck --kernel-name kns=kernels4cuda; }

needs_pytorch() {
    "$python" -c 'import torch, safetensors, numpy' 2> /dev/null || { skip "no PyTorch here"; return; }
}

# SCRIPT ARGUMENTS...: a comparison of tests/peer, its ops shared out among processes.
compare_ops() {
    local name share failed=0 jobs=()
    name=$(basename "$1" .py)
    rm -f "$results/$name"-*.txt
    for ((share = 1; share <= shares; ++share)); do
        "$python" "$@" --halftone "$program" --device cuda --share "$share/$shares" > "$results/$name-$share.txt" 2>&1 &
        jobs+=($!)
    done
    for share in "${jobs[@]}"; do wait "$share" || failed=1; done
    grep -hE -A4 '^DIFFERS|^TYPES|^policy|^refusal|Error|not run by' "$results/$name"-*.txt | head -200
    grep -hE '^[0-9]+ cases' "$results/$name"-*.txt
    awk -v name="$name" '/^[0-9]+ cases/ {
            cases += $1
            for (i = 2; i <= NF; ++i) if ($i ~ /^differ/) {differ += $(i - 1); break}
            ++seen
        } END {print name ": " cases + 0 " cases, " differ + 0 " differ, in " seen + 0 " shares"}' "$results/$name"-*.txt
    return $failed
}
# Every op of the catalog with random shapes, strides and types against PyTorch's arithmetic, on the device.
part_ops() { needs_pytorch && compare_ops tests/peer/op_cases.py --cases "${HALFTONE_CASES:-40}"; }
part_specials() {
    needs_pytorch || return
    local failed=0
    compare_ops tests/peer/op_special_families.py --cases $((${HALFTONE_CASES:-40} / 2 + 1)) || failed=1
    "$python" tests/peer/op_specials.py --halftone "$program" --device cuda || failed=1
    return $failed
}
# The same beside PyTorch's own kernels on the same GPU; on its CPU where this is a rehearsal.
part_peer() {
    local peer=cuda
    if [[ $rehearsal ]]; then peer=cpu; fi
    needs_pytorch || return
    [[ $peer == cpu ]] || "$python" -c 'import torch; raise SystemExit(not torch.cuda.is_available())' ||
        { skip "PyTorch finds no CUDA device"; return; }
    compare_ops tests/peer/op_peer_device.py --peer $peer --cases "${HALFTONE_PEER_CASES:-24}"
}

part_fashion() {
    [[ -d $data/fashion-mnist ]] || { skip "no Fashion-MNIST in $data"; return; }
    needs_pytorch || return
    "$python" tests/peer/fashion_accuracy.py --halftone "$program" --device cuda --data "$data/fashion-mnist" \
        --seeds "${HALFTONE_SEEDS:-3}" --train-limit "${HALFTONE_TRAIN_LIMIT:-0}"
}
part_steps() {
    [[ -d $data/cifar100-15k ]] || { skip "no CIFAR-100 pack in $data"; return; }
    needs_pytorch || return
    "$python" -c 'import torchvision' 2> /dev/null || { skip "no torchvision here"; return; }
    local precision failed=0 jobs=()
    for precision in fp32 amp-fp16 amp-bf16; do
        "$python" tests/peer/convnet_steps.py --model resnet18 --halftone "$program" --device cuda --data "$data/cifar100-15k" \
            --steps "${HALFTONE_STEPS:-20}" --batch "${HALFTONE_STEPS_BATCH:-64}" --precision $precision \
            > "$results/steps-$precision.txt" 2>&1 &
        jobs+=($!)
    done
    for precision in "${jobs[@]}"; do wait "$precision" || failed=1; done
    cat "$results"/steps-*.txt
    return $failed
}

resnet() {  # PRECISION SEED: 30 epochs; part accuracy compares the ends
    [[ -d $data/cifar100-15k ]] || { skip "no CIFAR-100 pack in $data"; return; }
    "$program" train --json --out "$build/runs/resnet-$1-$2-$$" --set dataset.kind=cifar100 \
        --set dataset.path="$data/cifar100-15k" --set dataset.augment=true --set model.kind=resnet18 \
        --set dataset.train_limit="${HALFTONE_TRAIN_LIMIT:-0}" --set dataset.test_limit="${HALFTONE_TRAIN_LIMIT:-0}" \
        --set epochs="${HALFTONE_EPOCHS:-30}" --set batch_size=128 --set optimizer.lr=0.1 --set schedule.kind=cosine \
        --set device=cuda --set precision.preset="$1" --set seed="$2" | grep -E '"event":"(epoch|done|error|warning)"'
}
# Every precision's accuracy within twice the spread of the fp32 seeds of their mean.
part_accuracy() {
    local run
    for run in "${parts[@]}"; do
        [[ $run == resnet-* ]] || continue
        echo "$run $(sed -nE 's/.*"event":"done".*"test_accuracy":([0-9.e-]+).*/\1/p' "$results/$run.log" 2> /dev/null)"
    done | awk '
        NF < 2 {missing = missing " " $1; next}
        {print $1 ": " $2}
        $1 ~ /^resnet-fp32-/ {sum += $2; ++n; if (n == 1 || $2 < low) low = $2; if (n == 1 || $2 > high) high = $2; next}
        {other[$1] = $2}
        END {
            if (missing) {print "skipped: no end of" missing; exit 77}
            worst = 0
            for (run in other) {
                apart = other[run] - sum / n; if (apart < 0) apart = -apart
                if (apart > worst) worst = apart
            }
            printf "accuracy: fp32 %.4f, spread %.4f; the furthest %.4f from it (within %.4f)\n", sum / n, high - low,
                worst, 2 * (high - low)
            exit worst > 2 * (high - low)
        }'
}

part_bench() {
    local options=()
    read -ra options <<< "${HALFTONE_BENCH:---seconds 560}"
    needs_pytorch || return
    "$python" tests/bench/gpu_peer.py --halftone "$program" --data "$data/cifar100-15k" --out "$results/bench.md" "${options[@]}"
}

# Of a part, in a process of its own that is cut off at its limit.
run_part() {
    local part=$1 log=$results/$1.log limit=$part_limit start=$SECONDS code
    if [[ -n ${HALFTONE_SECONDS:-} ]] && ((HALFTONE_SECONDS - SECONDS < limit)); then limit=$((HALFTONE_SECONDS - SECONDS)); fi
    if ((limit < 10)); then
        echo "$part: waits for the next call"
        return
    fi
    case $part in
        resnet-*) local rest=${part#resnet-}; timeout -k 5 "$limit" "$0" --inside resnet "${rest%-*}" "${rest##*-}" ;;
        *) timeout -k 5 "$limit" "$0" --inside "part_$part" ;;
    esac > "$log" 2>&1
    code=$?
    case $code in
        0) echo "passed in $((SECONDS - start)) s" > "$state/$part" ;;
        77) tail -1 "$log" > "$state/$part" ;;
        124 | 137)
            if ((limit < part_limit)); then
                echo "$part: cut off after $limit s, again at the next call"
                return
            fi
            echo "FAILED: not done in $part_limit s" > "$state/$part" ;;
        *) echo "FAILED with exit code $code: $log" > "$state/$part" ;;
    esac
    echo "$part: $(cat "$state/$part")"
    if [[ $code != 0 && $code != 77 ]]; then tail -15 "$log"; fi
}

last_words() {
    grep -hE 'tests? ran on the device|findings|[0-9] cases, |lowest run|"event":"done"|steps beyond|^accuracy:|^Against|cuda:0' \
        "$results/$1.log" 2> /dev/null | tail -"${2:-1}" | cut -c1-200 | paste -sd' ' | sed 's/|/\//g'
}

table() {
    echo
    echo "| part | result | last word |"
    echo "| --- | --- | --- |"
    local part
    for part in "${parts[@]}"; do
        [[ -e $state/$part ]] && echo "| $part | $(cat "$state/$part") | $(last_words "$part") |"
    done
}

if [[ ${1:-} == --inside ]]; then
    shift
    "$@"
    exit
fi
chosen=("${groups[@]}")
if (($# > 0)); then
    for part in "$@"; do
        [[ " ${parts[*]} " == *" $part "* ]] || { echo "run.sh: no part $part; there are: ${parts[*]}"; exit 2; }
        rm -f "$state/$part"
    done
    chosen=("$@")
fi
for group in "${chosen[@]}"; do
    running=()
    for part in $group; do
        if grep -qs passed "$state/$part"; then
            echo "$part: $(cat "$state/$part") (before)"
            continue
        fi
        run_part "$part" &
        running+=($!)
    done
    ((${#running[@]} == 0)) || wait "${running[@]}"
    if [[ $group == build ]] && ! grep -qs passed "$state/build"; then break; fi
done
table | tee "$results/table.md"
! grep -qs FAILED "$state"/*
