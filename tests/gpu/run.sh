#!/usr/bin/env bash
# run.sh [first|second|PART...]: every check that needs a GPU, on a machine that has one. Takes the programs of a kit
# (installer/gpu_kit.sh) or builds them (without the window), tests the device, measures speed beside PyTorch, lists the
# kernels of a step, compares each op with PyTorch, runs compute-sanitizer and the acceptance runs, and prints a table.
#
# A call ends after HALFTONE_SECONDS, 540 by default. The next call with the same arguments goes on from there: parts that
# have passed are not run again, unless they are named. The most telling parts come first:
#
#   first   build smoke bench-first profile kernels races engine ops-few memcheck
#   second  the acceptance runs, all ops, the other sanitizers and the whole benchmark
#
# Parts of one group run side by side, each in its own process with its own time limit. Test programs run suite by suite,
# so that a crash or a hang costs one suite. Only the part races times the libraries' algorithms; the other tests take the
# library's first choice. Parts that time run alone on the card and share one store of measured plans.
#
# Results and state are written to one folder as they arrive. At its end a call packs the folder, with the measured plans,
# into RESULTS.tar.gz beside it; on another machine that file is enough to go on. A call that is killed leaves the folder as it
# was; the next call first ends what that one left running.
#
# HALFTONE_PREBUILT folder with halftone and tests/: nothing is built (default: prebuilt, if it exists)
# HALFTONE_PREFIX   folder of installer/prefix.sh, where the machine lacks the libraries
# HALFTONE_DATA     folder with fashion-mnist/ and cifar100-15k/ or cifar100-5k/ (default: data, or ../shared/data). Without
#                   it training runs skip, and speed is measured with random pictures
# HALFTONE_OUT      folder of results and state (default: build/gpu/results)
# XDG_CACHE_HOME    folder of the measured plans (default: HALFTONE_OUT with .cache appended)
# HALFTONE_BUILD    the build (default: build/gpu)
# HALFTONE_ARCH     the architectures to build for (default: those of this machine's cards, else 90)
# HALFTONE_SECONDS  most seconds of a call (default: 540; 0: no limit)
# HALFTONE_JOBS     programs at once (default: 8). Always 1 if the card's compute mode is exclusive
# PYTHON            the Python that has PyTorch (default: python3)
#
# Sizes, for a rehearsal: HALFTONE_CASES (cases an op; 8 in ops-few, 40 in ops), HALFTONE_PEER_CASES (24), HALFTONE_STEPS
# (20), HALFTONE_STEPS_BATCH (64), HALFTONE_SEEDS (3), HALFTONE_EPOCHS (30), HALFTONE_BATCH (128: of the ResNet-18 runs and
# of the profile), HALFTONE_TRAIN_LIMIT (0: all samples), HALFTONE_TESTS (a filter of GoogleTest), HALFTONE_SUITE_SECONDS
# (120), HALFTONE_SHARES (processes that share a comparison), HALFTONE_BENCH (arguments of tests/bench/compare.py --device
# cuda).
# HALFTONE_REHEARSAL=1  no GPU: the programs of an existing build, on the simulated device.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=${HALFTONE_BUILD:-build/gpu}
prebuilt=${HALFTONE_PREBUILT:-}
if [[ ! $prebuilt && -d prebuilt ]]; then prebuilt=prebuilt; fi
python=${PYTHON:-python3}
rehearsal=${HALFTONE_REHEARSAL:-}
programs=${prebuilt:-$build} simulated='' program=$programs/halftone
if [[ $rehearsal ]]; then simulated=_simt program=$programs/tests/app/halftone_simt; fi
results=${HALFTONE_OUT:-build/gpu/results}
results=$(realpath -m "$results")
packed=$results.tar.gz
state=$results/state
part_limit=480
suite_limit=${HALFTONE_SUITE_SECONDS:-120}
smoke_limit=200
export HALFTONE_TEST_DEVICE=cuda HALFTONE_TEST_PLANS=first
# As in the programs (app/main.cpp): recurrent networks give the same bits in every run.
export CUBLAS_WORKSPACE_CONFIG=${CUBLAS_WORKSPACE_CONFIG:-:4096:2}
# Runs that train side by side measure plans under contention, so theirs are kept apart from those of the benchmarks.
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$results.cache}
training_cache=$XDG_CACHE_HOME/training

data=${HALFTONE_DATA:-}
for folder in data ../shared/data; do
    if [[ ! $data && -d $folder ]]; then data=$folder; fi
done
cifar=$data/cifar100-15k
[[ -d $cifar ]] || cifar=$data/cifar100-5k

first=("build" "smoke" "bench-first" "profile" "kernels" "races" "engine" "ops-few" "memcheck")
second=("build" "smoke" "steps fashion"
        "resnet-fp32-1 resnet-fp32-2 resnet-fp32-3 resnet-tf32-1 resnet-amp-fp16-1 resnet-amp-bf16-1"
        "accuracy" "golden" "sessions" "ops" "specials" "peer" "racecheck" "synccheck" "initcheck" "bench")
# shellcheck disable=SC2048  # groups are words
read -ra parts <<< "$(printf '%s\n' ${first[*]} ${second[*]} | awk '!seen[$0]++' | tr '\n' ' ')"

kernel_tests=(kernels/kernels_test)
kernel_cases=${HALFTONE_TESTS:-Cuda*:PutBytes.*-*Race.*}  # those of the device
race_cases='*Race.*'
engine_tests=(engine/core_test engine/ops_test engine/nn_test engine/amp_test engine/autocast_test engine/optim_test
              engine/device_test engine/detection_test)
other_tests=(peer/golden_test engine/session_test)
captured_step='*DeviceStep.Replays*'

# Exit status of a part: passed with 0, else one of these, else failed.
skipped=77 unfinished=75
skip() { echo "skipped: $*"; return $skipped; }

# Seconds until this call has to end, or very many.
left() {
    local now
    now=$(date +%s)
    if [[ ${HALFTONE_DEADLINE:-} ]]; then echo $((HALFTONE_DEADLINE - now)); else echo 1000000; fi
}

ask_card() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2> /dev/null; }

# In exclusive mode a second process gets no context.
exclusive=''
if ask_card compute_mode | sed -n 1p | grep -i exclusive > /dev/null; then exclusive=1; fi
width=${HALFTONE_JOBS:-8}
if [[ $exclusive ]]; then width=1; fi
shares=${HALFTONE_SHARES:-$width}

# VARIABLE=VALUE: ends every program that was started with it, but this one. A process group does not hold them all: each
# `timeout` makes one of its own.
end_programs() {
    local round file files found
    for ((round = 0; round < 10; ++round)); do
        found=''
        mapfile -t files < <(env -u HALFTONE_CALL -u HALFTONE_PART grep -lzsxF "$1" /proc/[0-9]*/environ)
        for file in "${files[@]}"; do
            file=${file//[^0-9]/}
            if ((file != $$)); then kill -KILL "$file" 2> /dev/null && found=1; fi
        done
        [[ $found ]] || return 0
        sleep 0.1
    done
}

# FUNCTION ARGUMENT...: calls it for each, `width` at a time.
side_by_side() {
    local function=$1 argument
    shift
    for argument in "$@"; do
        while (($(jobs -rp | wc -l) >= width)); do wait -n; done
        "$function" "$argument" &
    done
    wait
}

part_build() {
    local targets=() test
    for test in "${kernel_tests[@]}" "${engine_tests[@]}" "${other_tests[@]}"; do
        targets+=("$(basename "$test")$simulated")
    done
    if [[ $prebuilt ]]; then
        echo "programs of $prebuilt"
    elif [[ $rehearsal ]]; then
        cmake --build "$build" --target halftone_simt "${targets[@]}" || return
    else
        local prefix=() architectures
        architectures=${HALFTONE_ARCH:-$(ask_card compute_cap | tr -d '. ' | sort -u | paste -sd';')}
        [[ -n ${HALFTONE_PREFIX:-} ]] && prefix=(-C "$HALFTONE_PREFIX/prefix.cmake")
        cmake "${prefix[@]}" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_UNITY=ON -DHALFTONE_UI=OFF \
            -DHALFTONE_CUDA=REQUIRED -DHALFTONE_MPI=OFF -DCMAKE_CUDA_ARCHITECTURES="${architectures:-90}" \
            -DHALFTONE_DATA_DIR="$(realpath -m "${data:-../shared/data}")" &&
            cmake --build "$build" --target halftone "${targets[@]}" || return
    fi
    "$program" doctor | tee "$results/doctor.txt"
    grep '^cuda:0' "$results/doctor.txt" || {
        echo "no device that this program can use: $(sed -n 's/^CUDA  *//p' "$results/doctor.txt" | sed -n 1p)"
        return 1
    }
}

# The part fails without a device, a product, a convolution or a replayed step. Attention and recurrent networks are
# reported only: their plans take long to make, and training does without them.
part_smoke() {
    local end=$((SECONDS + smoke_limit)) failed=0 name gate test filter
    "$program" doctor | grep '^cuda:0' || failed=1
    while read -r name gate test filter; do
        smoke_step "$name" "$test" "$filter" $((end - SECONDS)) || [[ $gate == reported ]] || failed=1
    done << 'EOF'
product gate kernels/kernels_test CudaGemm.AgreesWithDoubleForEveryDtypeAndTransposition:CudaGemm.WaitsForNothing
convolution gate kernels/kernels_test CudaConv2d.AgreesWithDoubleForThePlainThreeByThree
step gate engine/device_test Runs/DeviceStep.ReplaysTheStepAsAGraphWithTheNumbersOfEagerSteps/mlp_amp_fp16
attention reported kernels/kernels_test CudaAttention/AttentionShape.*/f16_heads_causal
recurrent reported kernels/kernels_test CudaRecurrentNetwork.GivesTheSameBits*:CudaRecurrentNetwork.MayBeRecordedInAGraph
EOF
    echo "smoke: $((smoke_limit - end + SECONDS)) s"
    return $failed
}
# A skipped test is no failure; a filter that matches no test is one.
smoke_step() {
    local name=$1 test=$2 filter=$3 seconds=$4 start=$SECONDS code ran skipped_n
    ((seconds > 0)) || { echo "$name: no time is left of $smoke_limit s"; return 1; }
    timeout -k 2 "$seconds" "$programs/tests/$test$simulated" --gtest_brief=1 --gtest_filter="$filter" \
        --gtest_output="xml:$results/smoke-$name.xml" < /dev/null > "$results/smoke-$name.txt" 2>&1
    code=$?
    ran=$(count completed "$results/smoke-$name.xml") skipped_n=$(count skipped "$results/smoke-$name.xml")
    echo "$name: $ran tests, $skipped_n skipped, exit code $code, $((SECONDS - start)) s"
    ((code == 0 && ran + skipped_n > 0)) || { tail -20 "$results/smoke-$name.txt"; return 1; }
}

count() {  # completed|skipped XML
    local found
    found=$(grep -c "result=\"$1\"" "$2" 2> /dev/null)
    echo "${found:-0}"
}

# PROGRAM FILTER: a line for each suite of it, "SUITE TEST:TEST..."; "SUITE SUITE.*" where that is more than an argument may
# be.
suites_of() {
    "$programs/tests/$1$simulated" --gtest_list_tests --gtest_filter="$2" 2> /dev/null | awk '
        /^[^ ].*\.( |$)/ {suite = $1; next}
        /^  / && suite != "" {
            if (!(suite in tests)) order[++count] = suite
            tests[suite] = tests[suite] (tests[suite] == "" ? "" : ":") suite $1
        }
        END {
            for (i = 1; i <= count; ++i)
                print substr(order[i], 1, length(order[i]) - 1),
                    length(tests[order[i]]) < 100000 ? tests[order[i]] : order[i] "*"
        }'
}

# "KIND|PROGRAM|SUITE|TESTS|COMMAND": runs them by the command, unless they have passed; what is cut off by the end of this
# call leaves nothing.
run_suite() {
    local kind test suite tests command name place limit=$suite_limit start=$SECONDS code end ran passed=FAILED
    IFS='|' read -r kind test suite tests command <<< "$1"
    name=$(basename "$test") place=$results/suites/$kind/$(basename "$test")/${suite//\//.}
    end=$(left)
    if grep -qs '^passed' "$place.state" || ((end < 5)); then return; fi
    ((end >= limit)) || limit=$end
    mkdir -p "$(dirname "$place")"
    # shellcheck disable=SC2086  # the command's words
    timeout -k 5 "$limit" $command "$programs/tests/$test$simulated" --gtest_brief=1 --gtest_filter="$tests" \
        --gtest_output="xml:$place.xml" < /dev/null > "$place.txt" 2>&1
    code=$?
    if ((code == 124 || code == 137)) && ((limit < suite_limit)); then return; fi
    ran=$(count completed "$place.xml")
    if ((code == 0)) && [[ -s $place.xml ]]; then passed=passed; fi
    ((code != 124 && code != 137)) || echo "not done in $limit s" >> "$place.txt"
    echo "$passed $ran $(count skipped "$place.xml") $code $((SECONDS - start))" > "$place.state"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$kind" "$name" "$suite" "$passed" "$ran" "$(count skipped "$place.xml")" "$code" \
        $((SECONDS - start)) >> "$results/suites.tsv"
}

# KIND COMMAND FILTER PROGRAM...: their suites, side by side. Each program must have run a test to its end on the device, and a
# skipped one says why.
tests_by() {
    local kind=$1 command=$2 filter=$3 test suite tests listed=() failed=0 open=0 lists
    shift 3
    for test in "$@"; do
        lists=$(suites_of "$test" "$filter")
        [[ $lists ]] || { echo "== $(basename "$test"): it lists no test of $filter"; failed=1; }
        while read -r suite tests; do
            [[ $suite ]] && listed+=("$kind|$test|$suite|$tests|$command")
        done <<< "$lists"
    done
    side_by_side run_suite "${listed[@]}"
    for test in "$@"; do
        summary_of "$kind" "$test" "${listed[@]}"
        case $? in
            0) ;;
            "$unfinished") open=1 ;;
            *) failed=1 ;;
        esac
    done
    if ((failed)); then return 1; fi
    if ((open)); then return $unfinished; fi
}
summary_of() {
    local kind=$1 test=$2 one suite place ran=0 passed_over=0 suites=0 missing=0 failed=0 word n skipped_n
    shift 2
    for one in "$@"; do
        IFS='|' read -r _ of suite _ <<< "$one"
        [[ $of == "$test" ]] || continue
        place=$results/suites/$kind/$(basename "$test")/${suite//\//.}
        suites=$((suites + 1))
        [[ -e $place.state ]] || { missing=$((missing + 1)); continue; }
        read -r word n skipped_n _ < "$place.state"
        ran=$((ran + n)) passed_over=$((passed_over + skipped_n))
        if [[ $word != passed ]]; then
            failed=$((failed + 1))
            echo "-- $suite"
            grep -vE '^Running main|^Note: ' "$place.txt" | tail -20
        fi
    done
    cat "$results/suites/$kind/$(basename "$test")"/*.xml 2> /dev/null | grep -oE '<skipped message="[^"]*' |
        sed 's/.*message="/skipped: /; s/&#x0A;/ /g' | sort | uniq -c | sort -rn | sed -n 1,5p
    echo "== $(basename "$test"): $ran tests ran on the device, $passed_over skipped, in $suites suites; $failed failed," \
        "$missing not begun"
    if ((failed > 0)); then return 1; fi
    if ((missing > 0)); then return $unfinished; fi
    ((ran > 0))
}
part_kernels() { tests_by plain "" "$kernel_cases" "${kernel_tests[@]}"; }
# One suite at a time: others' work on the card would decide who wins.
part_races() {
    width=1
    tests_by race "" "$race_cases" "${kernel_tests[@]}"
}
part_engine() { tests_by plain "" "${HALFTONE_TESTS:-*}" "${engine_tests[@]}"; }
part_golden() { tests_by plain "" "${HALFTONE_TESTS:-*}" peer/golden_test; }
part_sessions() { tests_by plain "" "${HALFTONE_TESTS:-*}" engine/session_test; }

# TOOL OPTIONS...: over our own kernels in their tests, and a captured step; refused calls are part of some tests.
sanitize() {
    command -v compute-sanitizer > /dev/null || { skip "no compute-sanitizer here"; return; }
    local tool=$1 code=0 step=0 result words
    words=$(compute-sanitizer "$program" doctor 2>&1)  # it fails too where it is not supported
    ! grep -qi 'not supported' <<< "$words" || { skip "compute-sanitizer does not work here"; return; }
    shift
    local command="compute-sanitizer --tool $tool --error-exitcode 9 --print-limit 20 $*"
    suite_limit=$((4 * suite_limit))
    tests_by "$tool" "$command" "$kernel_cases" "${kernel_tests[@]}" || code=$?
    tests_by "$tool" "$command" "$captured_step" engine/device_test || step=$?
    find "$results/suites/$tool" -name '*.txt' -exec grep -hoE '(ERROR|RACECHECK) SUMMARY: [0-9]+' {} + |
        awk -v tool="$tool" '{n += $3} END {print tool ": " NR " runs with a summary, " n + 0 " findings"}'
    for result in $code $step; do
        if ((result != 0 && result != unfinished)); then return "$result"; fi
    done
    return $((code > step ? code : step))
}
part_memcheck() { sanitize memcheck --leak-check no --report-api-errors no; }
part_racecheck() { sanitize racecheck --kernel-name kns=kernels4cuda; }
part_synccheck() { sanitize synccheck --kernel-name kns=kernels4cuda; }
part_initcheck() { sanitize initcheck --kernel-name kns=kernels4cuda; }

needs_pytorch() {
    "$python" -c 'import torch, safetensors, numpy' 2> /dev/null || { skip "no PyTorch here"; return; }
}

# SCRIPT ARGUMENTS...: a comparison of tests/peer, its ops shared out among processes.
compare_ops() {
    local name share failed=0 running=()
    name=$(basename "$1" .py)
    rm -f "$results/$name"-*.txt
    for ((share = 1; share <= shares; ++share)); do
        "$python" "$@" --halftone "$program" --device cuda --share "$share/$shares" > "$results/$name-$share.txt" 2>&1 &
        running+=($!)
    done
    for share in "${running[@]}"; do wait "$share" || failed=1; done
    grep -hE -A4 '^DIFFERS|^TYPES|^policy|^rejection|Error|not run by' "$results/$name"-*.txt | sed -n 1,200p
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
part_ops-few() { needs_pytorch && compare_ops tests/peer/op_cases.py --cases "${HALFTONE_CASES:-8}"; }
part_specials() {
    needs_pytorch || return
    local failed=0
    compare_ops tests/peer/op_special_families.py --cases $((${HALFTONE_CASES:-40} / 2 + 1)) || failed=1
    "$python" tests/peer/op_specials.py --halftone "$program" --device cuda || failed=1
    return $failed
}
# Operations beside PyTorch's own kernels on the same GPU; on its CPU where this is a rehearsal.
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
    [[ -d $cifar ]] || { skip "no CIFAR-100 pack in $data"; return; }
    needs_pytorch || return
    "$python" -c 'import torchvision' 2> /dev/null || { skip "no torchvision here"; return; }
    local precision failed=0 running=()
    for precision in fp32 amp-fp16 amp-bf16; do
        "$python" tests/peer/convnet_steps.py --model resnet18 --halftone "$program" --device cuda --data "$cifar" \
            --steps "${HALFTONE_STEPS:-20}" --batch "${HALFTONE_STEPS_BATCH:-64}" --precision $precision \
            > "$results/steps-$precision.txt" 2>&1 &
        running+=($!)
    done
    for precision in "${running[@]}"; do wait "$precision" || failed=1; done
    cat "$results"/steps-*.txt
    return $failed
}

resnet_settings() {  # PRECISION SEED [PACK]
    printf -- '--set %s ' dataset.kind=cifar100 dataset.path="${3:-$cifar}" dataset.augment=true model.kind=resnet18 \
        batch_size="${HALFTONE_BATCH:-128}" device=cuda precision.preset="$1" seed="$2"
}
resnet() {  # PRECISION SEED: 30 epochs; part accuracy compares the ends
    [[ -d $cifar ]] || { skip "no CIFAR-100 pack in $data"; return; }
    local settings
    read -ra settings <<< "$(resnet_settings "$1" "$2")"
    XDG_CACHE_HOME=$training_cache "$program" train --json --out "$results/runs/resnet-$1-$2-$$" "${settings[@]}" \
        --set dataset.train_limit="${HALFTONE_TRAIN_LIMIT:-0}" --set dataset.test_limit="${HALFTONE_TRAIN_LIMIT:-0}" \
        --set epochs="${HALFTONE_EPOCHS:-30}" --set optimizer.lr=0.1 --set schedule.kind=cosine \
        --set checkpoint.at_end=false --set checkpoint.best=false | grep -E '"event":"(epoch|done|error|warning)"'
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

# Prints the CIFAR-100 pack for measurements of speed. Without a real one it holds random pictures: 5,000 and 1,000, a
# hundred of them again and again.
speed_pack() {
    [[ ! -d $cifar ]] || { echo "$cifar"; return; }
    local folder=$XDG_CACHE_HOME/cifar100-random names=$programs/cifar100 class
    [[ ! -e $folder/train.bin ]] || { echo "$folder"; return; }
    mkdir -p "$folder" || return
    for ((class = 0; class < 100; ++class)); do
        # shellcheck disable=SC2059  # the two labels as bytes
        printf "$(printf '\\x%02x\\x%02x' $((class / 5)) $class)"
        head -c 3072 /dev/urandom
    done > "$folder/hundred"
    if [[ -d $names ]]; then cp "$names"/*_label_names.txt "$folder/"; fi
    for ((class = 0; class < 10; ++class)); do cat "$folder/hundred"; done > "$folder/test.bin"
    for ((class = 0; class < 5; ++class)); do cat "$folder/test.bin"; done > "$folder/train.part"
    rm "$folder/hundred"
    mv "$folder/train.part" "$folder/train.bin"
    echo "$folder"
}

# Steps before a block: the plans are chosen, and the step is captured. `halftone bench` adds steps while plans are chosen.
warm_up=20

# ARGUMENTS...: alone on the card, like everything that is timed. PyTorch takes cuBLAS's workspaces as it would without us;
# halftone sets its own.
bench() {
    needs_pytorch || return
    [[ ! $exclusive ]] || { skip "two programs cannot share a card in exclusive mode"; return; }
    local pictures
    pictures=$(speed_pack) || return
    env -u CUBLAS_WORKSPACE_CONFIG "$python" tests/bench/compare.py --device cuda --halftone "$program" --data "$pictures" "$@"
}
part_bench-first() {
    local options=() settings code
    read -ra options <<< "${HALFTONE_BENCH:---only resnet18-128-amp-fp16 --compile none --blocks 5 --seconds 90}"
    bench --out "$results/bench-first.md" "${options[@]}"
    code=$?
    ((code == skipped)) || return $code
    echo "Halftone alone:"
    read -ra settings <<< "$(resnet_settings amp-fp16 1 "$(speed_pack)")"
    local deterministic
    for deterministic in true false; do
        echo "deterministic=$deterministic"
        "$program" bench --steps 60 --blocks 5 --warm-up $warm_up "${settings[@]}" --set deterministic=$deterministic ||
            return
    done | tee "$results/bench-first.md"
    (($(grep -c ' ms a step' "$results/bench-first.md") == 2))
}
part_bench() {
    local options=()
    read -ra options <<< "${HALFTONE_BENCH:---seconds 440}"
    bench --out "$results/bench.md" "${options[@]}"
}

# FILE: the launches in a CSV of ncu, summed by kernel: time, bytes to and from memory, bytes written to the L2 cache.
kernels_of_ncu() {
    awk '
        /^"/ {
            line = $0
            sub(/^"/, "", line); sub(/"\r?$/, "", line)
            n = split(line, cell, /","/)
            if (!kernel_at) {
                for (i = 1; i <= n; ++i) column[cell[i]] = i
                kernel_at = column["Kernel Name"]
                next
            }
            value = cell[column["Metric Value"]]
            gsub(/,/, "", value)
            kernel = cell[kernel_at]
            sub(/\(.*/, "", kernel); sub(/^void /, "", kernel)
            metric = cell[column["Metric Name"]]
            if (metric ~ /^gpu__time_duration/) {time[kernel] += value / 1000; ++calls[kernel]; all_time += value / 1000; ++all}
            if (metric ~ /^dram__bytes/) {memory[kernel] += value / 1e6; all_memory += value / 1e6}
            if (metric ~ /^lts__t_sectors_op_write/) {written[kernel] += value * 32 / 1e6; all_written += value * 32 / 1e6}
        }
        END {
            if (all == 0) exit 1
            printf "profile: %d launches, %.1f us, %.1f MB of memory, %.1f MB written to L2\n", all, all_time, all_memory,
                all_written
            print "      us  calls  MB memory  MB written  kernel"
            fflush()
            for (kernel in time)
                printf "%8.1f %6d %10.2f %11.2f  %s\n", time[kernel], calls[kernel], memory[kernel], written[kernel],
                    kernel | "sort -rn"
        }' "$1"
}
# The kernels of a replayed ResNet-18 step with their times and bytes. The launches left out are those of the warm-up.
part_profile() {
    local settings found=1
    read -ra settings <<< "$(resnet_settings amp-fp16 1 "$(speed_pack)")"
    local bench=("$program" bench --blocks 1 --warm-up "$warm_up" --steps 30 "${settings[@]}")
    if command -v ncu > /dev/null; then
        timeout -k 5 120 ncu --clock-control none --graph-profiling node --print-units base \
            --metrics gpu__time_duration.sum,dram__bytes.sum,lts__t_sectors_op_write.sum \
            --launch-skip "${HALFTONE_LAUNCH_SKIP:-3000}" --launch-count "${HALFTONE_LAUNCHES:-230}" --csv "${bench[@]}" \
            > "$results/profile-ncu.csv" 2> "$results/profile-ncu.txt"
        kernels_of_ncu "$results/profile-ncu.csv" > "$results/profile-ncu.md" && found=0
        head -60 "$results/profile-ncu.md"
        if ((found)); then
            echo "ncu measured nothing:"
            cat "$results/profile-ncu.txt" "$results/profile-ncu.csv" | grep -E '^==(ERROR|WARNING)|[Ee]rror' | sed -n 1,5p
        fi
    else
        echo "no ncu here"
    fi
    if command -v nsys > /dev/null; then
        timeout -k 5 100 nsys profile --force-overwrite true --cuda-graph-trace node -o "$results/profile" "${bench[@]}" &&
            timeout -k 5 60 nsys stats --force-export true --report cuda_gpu_kern_sum --format csv \
                "$results/profile.nsys-rep" > "$results/profile.csv" && found=0
        head -40 "$results/profile.csv" 2> /dev/null
    else
        echo "no nsys here"
    fi
    ((found)) || return 0
    echo "operations in place of kernels:"
    "$program" xray "${settings[@]}" | tee "$results/profile.txt" | sed -n 1,60p
}

# Runs a part in its own process, which ends at the part's limit.
run_part() {
    local part=$1 log=$results/$1.log limit=$part_limit start=$SECONDS code end most
    end=$(left)
    case $part in
        build) limit=$end ;;  # the next call goes on building
        smoke) limit=$((smoke_limit + 10)) ;;
        bench-first) limit=240 ;;
        profile) limit=300 ;;
    esac
    most=$limit
    # Suites have limits of their own, by which they end before this call does.
    case $part in
        kernels | races | engine | golden | sessions | *check) limit=$((end + 5)) ;;
        *) ((end >= limit)) || limit=$end ;;
    esac
    if ((end < 10)); then
        echo "$part: waits for the next call"
        return
    fi
    local -x HALFTONE_PART=$HALFTONE_CALL/$part
    case $part in
        resnet-*) local rest=${part#resnet-}; timeout -k 5 "$limit" "$self" --inside resnet "${rest%-*}" "${rest##*-}" ;;
        fashion | steps) XDG_CACHE_HOME=$training_cache timeout -k 5 "$limit" "$self" --inside "part_$part" ;;
        *) timeout -k 5 "$limit" "$self" --inside "part_$part" ;;
    esac > "$log" 2>&1
    code=$?
    end_programs "HALFTONE_PART=$HALFTONE_PART"
    case $code in
        0) echo "passed in $((SECONDS - start)) s" > "$state/$part" ;;
        "$skipped") tail -1 "$log" > "$state/$part" ;;
        "$unfinished") echo "$part: not at its end, goes on at the next call"; return ;;
        124 | 137)
            if ((limit >= end)); then
                echo "$part: cut off after $limit s, again at the next call"
                return
            fi
            echo "FAILED: not done in $most s" > "$state/$part" ;;
        *) echo "FAILED with exit code $code: $part.log" > "$state/$part" ;;
    esac
    echo "$part: $(cat "$state/$part")"
    if ((code != 0 && code != skipped)); then tail -15 "$log"; fi
}

last_words() {
    grep -hE 'tests? ran on the device|findings|ms a step \(median|^profile:|[0-9] cases, |lowest run|"event":"done"|steps beyond|^accuracy:|^Against|^smoke:|cuda:0' \
        "$results/$1.log" 2> /dev/null | tail -"${2:-1}" | cut -c1-200 | paste -sd' ' | sed 's/|/\//g'
}

table() {
    echo
    echo "| part | result | last word |"
    echo "| --- | --- | --- |"
    local part lines
    for part in "${parts[@]}"; do
        lines=1
        if [[ $part == bench* ]]; then lines=2; fi  # with deterministic and without
        [[ -e $state/$part ]] && echo "| $part | $(cat "$state/$part") | $(last_words "$part" $lines) |"
    done
}

# The results, the state and the measured plans as one file, which is replaced whole.
pack() {
    mkdir -p "$results/plans"
    cp -r "$XDG_CACHE_HOME/halftone/." "$results/plans/" 2> /dev/null
    tar -czf "$packed.part" -C "$(dirname "$results")" "$(basename "$results")" && mv "$packed.part" "$packed" &&
        echo "results and state: $packed"
}

self=tests/gpu/$(basename "$0")
if [[ ${1:-} == --programs ]]; then  # for installer/gpu_kit.sh
    printf '%s\n' "${kernel_tests[@]/%/$simulated}" "${engine_tests[@]/%/$simulated}" "${other_tests[@]/%/$simulated}"
    exit
fi
if [[ ${1:-} == --inside ]]; then
    shift
    # Cut off, this waits for what it runs: timeout kills that too, but only as long as this lives.
    trap 'wait; exit 143' TERM
    "$@"
    exit
fi

if [[ ! -d $state && -e $packed ]]; then
    echo "going on from $packed"
    mkdir -p "$(dirname "$results")"
    tar -xzf "$packed" -C "$(dirname "$results")" || exit 2
fi
mkdir -p "$state"
# All programs of calls with these results have this variable, and so has this one from the start.
call=$(stat -c %d:%i "$results")
seconds=${HALFTONE_SECONDS:-540}
if [[ ${HALFTONE_CALL:-} != "$call" ]]; then
    # The last seconds are for programs that have to be killed, for the table and for packing.
    unset HALFTONE_DEADLINE
    if ((seconds > 0)); then export HALFTONE_DEADLINE=$(($(date +%s) - SECONDS + seconds - 15)); fi
    HALFTONE_CALL=$call exec "$self" "$@"
fi
end_programs "HALFTONE_CALL=$call"
# Measured plans of an earlier call, on a machine that has none.
if [[ -d $results/plans && ! -e $XDG_CACHE_HOME/halftone ]]; then
    mkdir -p "$XDG_CACHE_HOME" && cp -r "$results/plans" "$XDG_CACHE_HOME/halftone"
fi

chosen=("${first[@]}" "${second[@]}")
case ${1:-} in
    '') ;;
    first) chosen=("${first[@]}") ;;
    second) chosen=("${second[@]}") ;;
    *)
        for part in "$@"; do
            [[ " ${parts[*]} " == *" $part "* ]] || { echo "run.sh: no part $part; there are: first second ${parts[*]}"; exit 2; }
            rm -rf "${state:?}/$part"
            case $part in
                kernels) for test in "${kernel_tests[@]}"; do rm -rf "$results/suites/plain/$(basename "$test")"; done ;;
                engine) for test in "${engine_tests[@]}"; do rm -rf "$results/suites/plain/$(basename "$test")"; done ;;
                races) rm -rf "$results/suites/race" ;;
                golden) rm -rf "$results/suites/plain/golden_test" ;;
                sessions) rm -rf "$results/suites/plain/session_test" ;;
                *check) rm -rf "$results/suites/$part" ;;
            esac
        done
        chosen=("$@") ;;
esac
trap pack EXIT
trap 'end_programs "HALFTONE_CALL=$call"; exit 130' INT TERM

# This machine, its card and these programs: the smoke test holds for them alone.
machine() {
    { uname -n; cat /proc/sys/kernel/random/boot_id; nvidia-smi -L; realpath "$program"; stat -c %Y "$program"; } 2> /dev/null
}
rm -f "$state/build"
for group in "${chosen[@]}"; do
    todo=()
    for part in $group; do
        if [[ $part == smoke && "$(machine)" != "$(cat "$state/machine" 2> /dev/null)" ]]; then rm -f "$state/smoke"; fi
        if grep -qs '^passed' "$state/$part"; then
            echo "$part: $(cat "$state/$part") (before)"
            continue
        fi
        todo+=("$part")
    done
    if ((${#todo[@]} > 0)); then
        side_by_side run_part "${todo[@]}"
        (($(left) < 10)) || table > "$results/table.md"
    fi
    for part in build smoke; do
        if [[ $group == "$part" ]] && ! grep -qs '^passed' "$state/$part"; then
            echo "nothing else can be shown without $part"
            break 2
        fi
        if [[ $group == smoke ]]; then machine > "$state/machine"; fi
    done
done
table | tee "$results/table.md"
! grep -qs '^FAILED' "$state"/*
