#!/usr/bin/env bash
# run_test.sh: run.sh on small stand-ins for the programs, without a GPU: what it does with suites that fail, crash and hang,
# with a card that is not there, with a call whose time is up, and on another machine.
set -u
run_sh=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/run.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
calls=$work/calls  # what the stand-ins were asked

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
expect() {  # TEXT FILE
    grep -qF -- "$1" "$2" || { complain "no '$1' in $2:"; tail -30 "$2"; }
}
expect_none() {  # TEXT FILE
    ! grep -qF -- "$1" "$2" || complain "'$1' in $2"
}
expect_count() {  # NUMBER TEXT FILE
    local found
    found=$(grep -cF -- "$2" "$3")
    ((found == $1)) || complain "$found times '$2' and not $1 in $3"
}

# Speaks GoogleTest's command line. What a test does its name says; SLOW takes two seconds.
make_program() {  # FILE TEST...
    mkdir -p "$(dirname "$1")"
    { echo '#!/usr/bin/env bash'; echo "calls='$calls'"; echo "all='${*:2}'"; cat << 'EOF'
filter='*' xml=''
for argument in "$@"; do
    case $argument in
        --gtest_list_tests) list=1 ;;
        --gtest_filter=*) filter=${argument#*=} ;;
        --gtest_output=xml:*) xml=${argument#*xml:} ;;
    esac
done
any_of() {  # PATTERNS NAME
    local pattern patterns
    IFS=: read -ra patterns <<< "$1"
    # shellcheck disable=SC2053
    for pattern in "${patterns[@]}"; do [[ $2 == $pattern ]] && return; done
    return 1
}
matches() {
    any_of "${filter%%-*}" "$1" || return
    [[ $filter != *-* ]] || ! any_of "${filter#*-}" "$1"
}
if [[ ${list:-} ]]; then
    suite=''
    for test in $all; do
        matches "$test" || continue
        if [[ ${test%.*} != "$suite" ]]; then suite=${test%.*}; echo "$suite."; fi
        echo "  ${test##*.}  # GetParam() = 7"
    done
    exit
fi
code=0 lines=''
for test in $all; do
    matches "$test" || continue
    echo "$(basename "$0") $test" >> "$calls"
    echo "plans $HALFTONE_TEST_PLANS, workspaces $CUBLAS_WORKSPACE_CONFIG" >> "$calls"
    case $test in
        *Crashes*) kill -SEGV $$ ;;
        *Hangs*) echo "hangs $$" >> "$calls"; exec sleep 100 ;;
        *Fails*) code=1; echo "$test: 1 is not 2" ;;
        *Slow*) sleep 2; echo "ended $test" >> "$calls" ;;
    esac
    result=completed
    if [[ $test == *Skips* ]]; then result=skipped; fi
    lines+="<testcase name=\"$test\" result=\"$result\">"$'\n'
    if [[ $test == *Skips* ]]; then lines+='<skipped message="no second card"/>'$'\n'; fi
done
[[ $xml ]] && printf '%s' "$lines" > "$xml"
exit $code
EOF
    } > "$1"
    chmod +x "$1"
}

for_smoke=(CudaGemm.AgreesWithDoubleForEveryDtypeAndTransposition CudaConv2d.AgreesWithDoubleForThePlainThreeByThree
           CudaAttention/AttentionShape.AgreesWithDouble/f16_heads_causal CudaRecurrentNetwork.MayBeRecordedInAGraph)

make_machine() {  # FOLDER: with a kit whose card is there and whose tests pass
    local bin=$1/bin kit=$1/kit
    mkdir -p "$bin" "$kit/tests/gpu"
    cp "$run_sh" "$kit/tests/gpu/run.sh"
    cat > "$1/halftone" << EOF
#!/bin/sh
echo "halftone \$*" >> "$calls"
case \$1 in
    doctor) echo "cuda:0  A card, compute capability 9.0" ;;
    bench)
        echo "cache \$XDG_CACHE_HOME" >> "$calls"
        mkdir -p "\$XDG_CACHE_HOME/halftone"
        echo plan > "\$XDG_CACHE_HOME/halftone/measured-plans"
        echo "resnet18: 2.5 ms a step (median of 5 blocks of 60)" ;;
esac
EOF
    install -D -m755 "$1/halftone" "$kit/prebuilt/halftone"
    make_program "$kit/prebuilt/tests/kernels/kernels_test" "${for_smoke[@]}" CudaSum.Adds CudaSum.SkipsIt PutBytes.Puts Cpu.NotOfTheDevice \
        CudaGemmRace.Agrees CudaConv2dRace.Agrees
    local test
    for test in core ops nn amp autocast optim detection session; do
        make_program "$kit/prebuilt/tests/engine/${test}_test" "Of_$test.One" "Of_$test.Two" "More/Of_$test.One/0"
    done
    make_program "$kit/prebuilt/tests/engine/device_test" \
        Runs/DeviceStep.ReplaysTheStepAsAGraphWithTheNumbersOfEagerSteps/mlp_amp_fp16 DeviceStep.Waits
    make_program "$kit/prebuilt/tests/peer/golden_test" Golden.One
    # A sanitizer that finds nothing, a Python without PyTorch, and no compiler.
    printf '%s\n' '#!/usr/bin/env bash' "echo \"sanitizer \$*\" >> '$calls'" 'while [[ $1 == --* ]]; do shift 2; done' \
        'echo "========= ERROR SUMMARY: 0 errors"; exec "$@"' > "$bin/compute-sanitizer"
    printf '%s\n' '#!/bin/sh' 'exit 1' > "$bin/python3"
    printf '%s\n' '#!/bin/sh' "echo \"cmake \$*\" >> '$calls'" 'exit 1' > "$bin/cmake"
    chmod +x "$bin"/*
}
begin_on() {  # FOLDER ARGUMENT...: in place of this shell
    local machine=$1
    shift
    : > "$calls"
    exec env PATH="$machine/bin:$PATH" HALFTONE_OUT="$machine/results" HALFTONE_DATA="$machine/no-data" "${settings[@]}" \
        "$machine/kit/tests/gpu/run.sh" "$@" > "$machine/out" 2>&1
}
run_on() (begin_on "$@")  # FOLDER ARGUMENT...: output in FOLDER/out; the exit code
ended() {  # PROCESS: killed, it may still be in the list of processes, as a zombie
    ! grep -qs '^State:.*[RSDT] ' "/proc/$1/status"
}
# A call whose time is up goes on on another machine, from the one file.
time_is_up() {
    make_machine "$work/e"
    make_program "$work/e/kit/prebuilt/tests/engine/core_test" {A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P}.Slow
    settings=(HALFTONE_JOBS=1)
    run_on "$work/e" build smoke bench-first profile kernels races
    settings+=(HALFTONE_SECONDS=38)
    started=$SECONDS
    run_on "$work/e" first
    # Packing takes its time on a busy machine.
    ((SECONDS - started <= 38 + 4)) || complain "it took $((SECONDS - started)) s of 38"
    grep -q '^engine: .* at the next call$' "$work/e/out" || complain "engine is at its end: $(cat "$work/e/out")"
    expect 'core_test A.Slow' "$calls"
    expect_none 'core_test P.Slow' "$calls"
    cp -r "$work/e" "$work/f"
    rm -rf "$work/f/results" "$work/f/results.cache" "$work/f/bin/compute-sanitizer"
    settings=(HALFTONE_JOBS=4)
    run_on "$work/f" first || complain "the other machine"
    expect 'going on from' "$work/f/out"
    expect_none 'core_test A.Slow' "$calls"
    expect 'core_test P.Slow' "$calls"
    expect 'halftone doctor' "$calls"
    expect 'device_test Runs/DeviceStep' "$calls"
    expect_none 'kernels_test CudaSum' "$calls"
    expect '| engine | passed' "$work/f/results/table.md"
    [[ -s $work/f/results.cache/halftone/measured-plans ]] || complain "the measured plans did not come along"
}

# Programs of a part end with it, even if one hangs.
part_hangs() {
    make_machine "$work/i"
    mkdir -p "$work/i/data/cifar100-5k"
    cat > "$work/i/kit/prebuilt/halftone" << EOF
#!/bin/sh
[ "\$1" = xray ] || exit 0
trap '' TERM
echo \$\$ > "$work/i/hangs"
sleep 60
EOF
    settings=(HALFTONE_DATA="$work/i/data" HALFTONE_SECONDS=28)
    run_on "$work/i" profile
    expect 'profile: cut off' "$work/i/out"
    [[ -s $work/i/hangs ]] || complain "no program hangs"
    ended "$(cat "$work/i/hangs")" || complain "a program that hangs is left behind"
    # So does one that has a limit of its own, beyond the end of the call.
    rm "$work/i/hangs"
    printf '%s\n' '#!/bin/sh' "echo \$\$ > '$work/i/hangs'" 'exec sleep 60' > "$work/i/bin/ncu"
    chmod +x "$work/i/bin/ncu"
    run_on "$work/i" profile
    expect 'profile: cut off' "$work/i/out"
    [[ -s $work/i/hangs ]] || complain "no ncu hangs"
    ended "$(cat "$work/i/hangs")" || complain "ncu is left behind"
}

# A call that is killed leaves the results of what is done, and the next one ends what it left running and goes on. One that is
# told to end does that itself.
call_is_killed() {
    local signal call hanging
    make_machine "$work/n"
    settings=(HALFTONE_JOBS=2)
    for signal in KILL TERM; do
        make_program "$work/n/kit/prebuilt/tests/engine/core_test" "A$signal.Adds" "B$signal.Hangs"
        begin_on "$work/n" first &
        call=$!
        for ((hanging = 0; hanging < 600; ++hanging)); do
            ! grep -qs '^hangs' "$calls" || break
            sleep 0.2
        done
        kill -$signal $call
        wait $call 2> /dev/null
        hanging=$(sed -n 's/^hangs //p' "$calls")
        [[ $hanging ]] || { complain "nothing hangs"; continue; }
        expect '| kernels | passed' "$work/n/results/table.md"
        if [[ $signal == TERM ]]; then
            ended "$hanging" || complain "a call that is told to end leaves a program behind"
            tar -tzf "$work/n/results.tar.gz" | grep -q state/kernels || complain "a call that is told to end does not pack"
        else
            ! ended "$hanging" || complain "a program that hangs ends by itself"
        fi
        make_program "$work/n/kit/prebuilt/tests/engine/core_test" "A$signal.Adds" "B$signal.Adds"
        run_on "$work/n" first || complain "the call after one with $signal"
        ended "$hanging" || complain "the next call leaves a program of the one before"
        grep -q '^kernels: passed.*(before)' "$work/n/out" || complain "what had passed runs again"
        expect_count 1 "core_test B$signal.Adds" "$calls"
        expect '| engine | passed' "$work/n/results/table.md"
        rm "$work/n/results/state/engine"
    done
}

# These wait for their limits, so they do it beside the others, each with a list of calls of its own.
beside() {  # FUNCTION
    (
        calls=$work/calls-$1 failures=0
        "$1"
        exit $((failures != 0))
    ) &
    waiting+=($!)
}
waiting=()
beside time_is_up
beside part_hangs
beside call_is_killed

settings=(HALFTONE_JOBS=2 HALFTONE_SUITE_SECONDS=20)

# All is well.
make_machine "$work/a"
run_on "$work/a" first || complain "first visit"
expect '| build | passed' "$work/a/results/table.md"
expect '| smoke | passed' "$work/a/results/table.md"
expect '| kernels | passed' "$work/a/results/table.md"
expect 'kernels_test: 6 tests ran on the device, 1 skipped, in 6 suites; 0 failed, 0 not begun' "$work/a/results/table.md"
expect '| memcheck | passed' "$work/a/results/table.md"
expect 'memcheck: 7 runs with a summary, 0 findings' "$work/a/results/table.md"
expect '| ops-few | skipped: no PyTorch here |' "$work/a/results/table.md"
expect '| races | passed' "$work/a/results/table.md"
expect 'kernels_test: 2 tests ran on the device, 0 skipped, in 2 suites' "$work/a/results/races.log"
expect_count 1 'kernels_test CudaGemmRace.Agrees' "$calls"
expect_none Cpu.NotOfTheDevice "$calls"
expect 'plans first, workspaces :4096:2' "$calls"
expect_none cmake "$calls"
expect_count 7 'sanitizer --tool memcheck' "$calls"
expect $'plain\tkernels_test\tCudaSum\tpassed\t1\t1\t0' "$work/a/results/suites.tsv"
run_on "$work/a" second || complain "second visit"
expect '| synccheck | passed' "$work/a/results/table.md"
expect 'kernels: passed' <(run_on "$work/a" first; cat "$work/a/out")
expect_none CudaSum "$calls"
expect 'smoke: passed' "$work/a/out"
expect_none CudaConv2d "$calls"
run_on "$work/a" nonsense && complain "an unknown part"

# A fault and a hang cost a suite each, and are told.
make_machine "$work/b"
make_program "$work/b/kit/prebuilt/tests/kernels/kernels_test" CudaCrash.Crashes CudaCrash.Lost CudaHang.Hangs \
    CudaFail.Fails CudaZ.Adds "${for_smoke[@]}"
settings=(HALFTONE_JOBS=2 HALFTONE_SUITE_SECONDS=2)
run_on "$work/b" kernels && complain "a crash passes"
expect 'kernels_test: 6 tests ran on the device, 0 skipped, in 8 suites; 3 failed, 0 not begun' "$work/b/out"
expect $'CudaZ\tpassed' "$work/b/results/suites.tsv"
expect $'CudaCrash\tFAILED\t0\t0\t139' "$work/b/results/suites.tsv"
expect $'CudaHang\tFAILED\t0\t0\t124' "$work/b/results/suites.tsv"
expect 'CudaFail.Fails: 1 is not 2' "$work/b/out"
expect '| kernels | FAILED' "$work/b/results/table.md"
tar -tzf "$work/b/results.tar.gz" | grep -q 'state/kernels' || complain "the state is not packed"

# Mended, what failed runs again, and nothing else.
make_program "$work/b/kit/prebuilt/tests/kernels/kernels_test" CudaCrash.Adds CudaCrash.Lost CudaHang.Adds CudaFail.Adds \
    CudaZ.Adds CudaGemmRace.Agrees "${for_smoke[@]}"
rm "$work/b/bin/compute-sanitizer"
run_on "$work/b" first || complain "a mended suite"
expect_count 0 'kernels_test CudaZ.Adds' "$calls"
expect_count 1 'kernels_test CudaHang.Adds' "$calls"
expect '8 suites; 0 failed' "$work/b/results/table.md"
expect '| memcheck | skipped: no compute-sanitizer here |' "$work/b/results/table.md"

# Without a card, or where the smoke fails, nothing else is begun.
settings=(HALFTONE_JOBS=2)
make_machine "$work/c"
printf '#!/bin/sh\necho "CUDA    No CUDA: no NVIDIA driver on this machine."\n' > "$work/c/kit/prebuilt/halftone"
run_on "$work/c" first && complain "no card passes"
expect 'no device that this program can use: No CUDA: no NVIDIA driver on this machine.' "$work/c/out"
expect 'nothing else can be shown without build' "$work/c/out"
expect_none kernels_test "$calls"
make_machine "$work/d"
make_program "$work/d/kit/prebuilt/tests/engine/device_test" \
    Runs/DeviceStep.ReplaysTheStepAsAGraphWithTheNumbersOfEagerSteps/other DeviceStep.Waits
run_on "$work/d" && complain "a smoke without a replayed step passes"
expect 'step: 0 tests' "$work/d/out"
expect 'nothing else can be shown without smoke' "$work/d/out"
expect_none CudaSum "$calls"

# Attention and recurrent networks are reported, and stop nothing; nor does a skipped test.
make_machine "$work/j"
make_program "$work/j/kit/prebuilt/tests/kernels/kernels_test" "${for_smoke[@]:1:1}" CudaSum.Adds CudaGemmRace.Agrees \
    CudaGemm.AgreesWithDoubleForEveryDtypeAndTransposition \
    CudaAttention/AttentionShape.Crashes/f16_heads_causal CudaRecurrentNetwork.GivesTheSameBitsSkips
run_on "$work/j" smoke
expect '| smoke | passed' "$work/j/results/table.md"
expect 'attention: 0 tests, 0 skipped, exit code 139' "$work/j/results/smoke.log"
expect 'recurrent: 0 tests, 1 skipped, exit code 0' "$work/j/results/smoke.log"
make_program "$work/j/kit/prebuilt/tests/kernels/kernels_test" "${for_smoke[@]:1}" CudaGemm.WaitsForNothingFails
run_on "$work/j" smoke && complain "a smoke with a wrong product passes"

# Without a kit it builds, and CUDA has to be there.
make_machine "$work/g"
mv "$work/g/kit/prebuilt" "$work/g/kit/elsewhere"
run_on "$work/g" first && complain "a build that fails passes"
expect '-DHALFTONE_CUDA=REQUIRED' "$calls"
cp "$work/g/bin/cmake" "$work/g/failing-cmake"
printf '%s\n' '#!/bin/sh' 'exec sleep 60' > "$work/g/bin/cmake"
settings=(HALFTONE_SECONDS=30)
run_on "$work/g" first
expect 'build: cut off after' "$work/g/out"
mv "$work/g/failing-cmake" "$work/g/bin/cmake"
settings=(HALFTONE_PREBUILT=elsewhere HALFTONE_JOBS=4)
run_on "$work/g" kernels || complain "a kit elsewhere"

# It is built for the cards that are there.
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'case $1 in --query-gpu=compute_cap) printf "12.0\n8.9\n8.9\n" ;; esac' > "$work/g/bin/nvidia-smi"
chmod +x "$work/g/bin/nvidia-smi"
settings=()
run_on "$work/g" build && complain "a build that fails passes"
expect '-DCMAKE_CUDA_ARCHITECTURES=120;89' "$calls"
settings=(HALFTONE_ARCH=75)
run_on "$work/g" build
expect '-DCMAKE_CUDA_ARCHITECTURES=75' "$calls"

# Speed without data: random pictures, and PyTorch beside it where it is there. Its store of plans is that of all benchmarks.
make_machine "$work/k"
mkdir -p "$work/k/kit/prebuilt/cifar100"
echo apple > "$work/k/kit/prebuilt/cifar100/fine_label_names.txt"
settings=()
run_on "$work/k" bench-first || complain "no speed without PyTorch"
pack=$work/k/results.cache/cifar100-random
expect "--set dataset.path=$pack " "$calls"
expect "cache $work/k/results.cache" "$calls"
expect '| bench-first | passed' "$work/k/results/table.md"
expect '2.5 ms a step (median' "$work/k/results/table.md"
expect_count 1 '--set deterministic=true' "$calls"
expect_count 1 '--set deterministic=false' "$calls"
expect_count 1 'deterministic=false' "$work/k/results/bench-first.md"
expect apple "$pack/fine_label_names.txt"
(($(stat -c %s "$pack/train.bin") == 5000 * 3074 && $(stat -c %s "$pack/test.bin") == 1000 * 3074)) || complain "random pictures"
[[ $(od -An -tu1 -j $((42 * 3074)) -N 2 "$pack/train.bin" | tr -s ' ') == ' 8 42' ]] || complain "labels of random pictures"
cat > "$work/k/bin/python3" << EOF
#!/bin/sh
[ "\$1" != -c ] || exit 0
echo "python \$*; workspaces \$CUBLAS_WORKSPACE_CONFIG." >> "$calls"
exit 1
EOF
run_on "$work/k" bench-first && complain "a benchmark that fails passes"
expect "--data $pack --out $work/k/results/bench-first.md --only resnet18-128-amp-fp16" "$calls"
expect 'workspaces .' "$calls"
run_on "$work/k" bench && complain "a benchmark that fails passes"
expect '| bench | FAILED' "$work/k/results/table.md"
printf '%s\n' '#!/bin/sh' 'exit 0' > "$work/k/kit/prebuilt/halftone"
printf '%s\n' '#!/bin/sh' 'exit 1' > "$work/k/bin/python3"
run_on "$work/k" bench-first && complain "a benchmark that times nothing passes"

# So does the comparison itself.
printf '%s\n' '#!/bin/sh' 'echo "{\"version\": \"2\"}"; cat > /dev/null' > "$work/worker"
chmod +x "$work/worker"
python3 "$(dirname "$run_sh")/../bench/compare_gpu.py" --python "$work/worker" --device cpu --data "$work/no-data/pack" \
    --only resnet18-128 > "$work/compared" && complain "a comparison that times nothing passes"
expect 'Nothing was timed' "$work/compared"

# In exclusive mode one program runs at a time.
make_machine "$work/l"
make_program "$work/l/kit/prebuilt/tests/engine/core_test" A.Slow B.Slow
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'case $1 in --query-gpu=compute_mode) echo Exclusive_Process ;; esac' > "$work/l/bin/nvidia-smi"
printf '%s\n' '#!/bin/sh' "echo \"python \$*\" >> '$calls'" > "$work/l/bin/python3"
chmod +x "$work/l/bin"/*
settings=(HALFTONE_JOBS=4)
run_on "$work/l" engine bench-first
[[ $(grep -A2 'core_test A.Slow' "$calls" | tail -1) == 'ended A.Slow' ]] || complain "two at once: $(cat "$calls")"
expect 'two programs cannot share a card' "$work/l/results/bench-first.log"
expect_none 'python tests/bench' "$calls"
expect 'halftone bench' "$calls"

# The kernels of a step, by ncu; without permission for its counters, operations.
make_machine "$work/m"
cat > "$work/m/bin/ncu" << EOF
#!/bin/sh
echo "ncu \$*" >> "$calls"
cat << 'CSV'
==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","void kernels::cuda::add<float, 4>(float *, int)","gpu__time_duration.sum","ns","1,500"
"0","7","void kernels::cuda::add<float, 4>(float *, int)","dram__bytes.sum","byte","3,000,000"
"0","7","void kernels::cuda::add<float, 4>(float *, int)","lts__t_sectors_op_write.sum","sector","62,500"
"1","7","void kernels::cuda::add<float, 4>(float *, int)","gpu__time_duration.sum","ns","2,500"
"1","7","void kernels::cuda::add<float, 4>(float *, int)","dram__bytes.sum","byte","1,000,000"
"1","7","void kernels::cuda::add<float, 4>(float *, int)","lts__t_sectors_op_write.sum","sector","0"
"2","7","sm90_xmma_gemm","gpu__time_duration.sum","ns","9,000"
"2","7","sm90_xmma_gemm","dram__bytes.sum","byte","500,000"
"2","7","sm90_xmma_gemm","lts__t_sectors_op_write.sum","sector","1"
CSV
EOF
chmod +x "$work/m/bin/ncu"
settings=()
run_on "$work/m" profile || complain "no profile"
expect 'profile: 3 launches, 13.0 us, 4.5 MB of memory, 2.0 MB written to L2' "$work/m/results/table.md"
expect '     4.0      2       4.00        2.00  kernels::cuda::add<float, 4>' "$work/m/results/profile-ncu.md"
[[ $(sed -n 3p "$work/m/results/profile-ncu.md") == *sm90_xmma_gemm ]] || complain "the longest kernel is not the first"
expect "halftone bench --blocks 1 --warm-up 20 --steps 30 --set" "$calls"
expect_none 'halftone xray' "$calls"
printf '%s\n' '#!/bin/sh' 'echo "==ERROR== ERR_NVGPUCTRPERM - no permission for performance counters"; exit 1' > "$work/m/bin/ncu"
run_on "$work/m" profile || complain "no operations"
expect 'ERR_NVGPUCTRPERM' "$work/m/results/profile.log"
expect 'halftone xray' "$calls"

# A sandbox has no sanitizer.
printf '%s\n' '#!/bin/sh' "echo \"sanitizer \$*\" >> '$calls'" 'echo "Error: Target application: device not supported"; exit 1' \
    > "$work/m/bin/compute-sanitizer"
run_on "$work/m" memcheck || complain "a sanitizer that does not work is a failure"
expect '| memcheck | skipped: compute-sanitizer does not work here |' "$work/m/results/table.md"
expect_none 'sanitizer --tool' "$calls"

# A rehearsal has small batches.
make_machine "$work/h"
mkdir -p "$work/h/data/cifar100-5k"
settings=(HALFTONE_DATA="$work/h/data")
run_on "$work/h" profile
expect '--set batch_size=128 ' "$calls"
settings+=(HALFTONE_BATCH=4)
run_on "$work/h" profile resnet-fp32-1
expect_count 2 '--set batch_size=4 ' "$calls"

for process in "${waiting[@]}"; do wait "$process" || failures=$((failures + 1)); done
((failures == 0)) || exit 1
echo "run.sh: all as expected"
