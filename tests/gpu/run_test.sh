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
matches() {
    local pattern patterns
    IFS=: read -ra patterns <<< "$filter"
    # shellcheck disable=SC2053
    for pattern in "${patterns[@]}"; do [[ $1 == $pattern ]] && return; done
    return 1
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
    case $test in
        *Crashes*) kill -SEGV $$ ;;
        *Hangs*) exec sleep 100 ;;
        *Fails*) code=1; echo "$test: 1 is not 2" ;;
        *Slow*) sleep 2 ;;
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
           CudaAttention.AgreesWithDoubleInItsResultsAndGradients CudaRecurrentNetwork.MayBeRecordedInAGraph)

make_machine() {  # FOLDER: with a kit whose card is there and whose tests pass
    local bin=$1/bin kit=$1/kit
    mkdir -p "$bin" "$kit/tests/gpu"
    cp "$run_sh" "$kit/tests/gpu/run.sh"
    printf '#!/bin/sh\necho "halftone $*" >> "%s"\necho "cuda:0  A card, compute capability 9.0"\n' "$calls" > "$work/halftone"
    install -D -m755 "$work/halftone" "$kit/prebuilt/halftone"
    make_program "$kit/prebuilt/tests/kernels/kernels_test" "${for_smoke[@]}" CudaSum.Adds CudaSum.SkipsIt PutBytes.Puts Cpu.NotOfTheDevice
    local test
    for test in core ops nn amp autocast optim session; do
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
run_on() {  # FOLDER ARGUMENT...: output in FOLDER/out; the exit code
    local machine=$1
    shift
    : > "$calls"
    env PATH="$machine/bin:$PATH" HALFTONE_OUT="$machine/results" HALFTONE_DATA="$machine/no-data" "${settings[@]}" \
        "$machine/kit/tests/gpu/run.sh" "$@" > "$machine/out" 2>&1
}
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
expect_none Cpu.NotOfTheDevice "$calls"
expect_none cmake "$calls"
expect_count 7 'sanitizer --tool memcheck' "$calls"
expect $'plain\tkernels_test\tCudaSum\tpassed\t1\t1\t0' "$work/a/results/suites.tsv"
run_on "$work/a" second || complain "second visit"
expect '| synccheck | passed' "$work/a/results/table.md"
expect 'kernels: passed' <(run_on "$work/a" first; cat "$work/a/out")
expect_none CudaSum "$calls"
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
    CudaZ.Adds "${for_smoke[@]}"
rm "$work/b/bin/compute-sanitizer"
run_on "$work/b" first || complain "a mended suite"
expect_count 0 'kernels_test CudaZ.Adds' "$calls"
expect_count 1 'kernels_test CudaHang.Adds' "$calls"
expect '8 suites; 0 failed' "$work/b/results/table.md"
expect '| memcheck | skipped: no compute-sanitizer here |' "$work/b/results/table.md"

# Without a card, or where the smoke fails, nothing else is begun.
settings=(HALFTONE_JOBS=2)
make_machine "$work/c"
printf '#!/bin/sh\necho "no device"\n' > "$work/c/kit/prebuilt/halftone"
run_on "$work/c" first && complain "no card passes"
expect 'nothing else can be shown without build' "$work/c/out"
expect_none kernels_test "$calls"
make_machine "$work/d"
make_program "$work/d/kit/prebuilt/tests/engine/device_test" \
    Runs/DeviceStep.ReplaysTheStepAsAGraphWithTheNumbersOfEagerSteps/other DeviceStep.Waits
run_on "$work/d" && complain "a smoke without a replayed step passes"
expect 'step: 0 tests' "$work/d/out"
expect 'nothing else can be shown without smoke' "$work/d/out"
expect_none CudaSum "$calls"

# A call whose time is up goes on on another machine, from the one file.
make_machine "$work/e"
make_program "$work/e/kit/prebuilt/tests/engine/core_test" A.Slow B.Slow C.Slow D.Slow E.Slow F.Slow G.Slow H.Slow
settings=(HALFTONE_JOBS=1 HALFTONE_SECONDS=22)
started=$SECONDS
run_on "$work/e" first
((SECONDS - started <= 24)) || complain "it took $((SECONDS - started)) s of 22"
expect 'engine: not at its end, goes on at the next call' "$work/e/out"
expect 'core_test A.Slow' "$calls"
expect_none 'core_test H.Slow' "$calls"
cp -r "$work/e" "$work/f"
rm -rf "$work/f/results" "$work/f/bin/compute-sanitizer"
settings=(HALFTONE_JOBS=4)
run_on "$work/f" first || complain "the other machine"
expect 'going on from' "$work/f/out"
expect_none 'core_test A.Slow' "$calls"
expect 'core_test H.Slow' "$calls"
expect 'halftone doctor' "$calls"
expect 'device_test Runs/DeviceStep' "$calls"
expect_none 'kernels_test CudaSum' "$calls"
expect '| engine | passed' "$work/f/results/table.md"

# Without a kit it builds, and CUDA has to be there.
make_machine "$work/g"
mv "$work/g/kit/prebuilt" "$work/g/kit/elsewhere"
run_on "$work/g" first && complain "a build that fails passes"
expect '-DHALFTONE_CUDA=REQUIRED' "$calls"
settings=(HALFTONE_PREBUILT=elsewhere HALFTONE_JOBS=4)
run_on "$work/g" kernels || complain "a kit elsewhere"

# A rehearsal has small batches.
make_machine "$work/h"
mkdir -p "$work/h/data/cifar100-5k"
settings=(HALFTONE_DATA="$work/h/data")
run_on "$work/h" profile
expect '--set batch_size=128 ' "$calls"
settings+=(HALFTONE_BATCH=4)
run_on "$work/h" profile resnet-fp32-1
expect_count 2 '--set batch_size=4 ' "$calls"

# What a part runs ends with it, even if it hangs.
make_machine "$work/i"
mkdir -p "$work/i/data/cifar100-5k"
cat > "$work/i/kit/prebuilt/halftone" << EOF
#!/bin/sh
[ "\$1" = xray ] || exit 0
trap '' TERM
echo \$\$ > "$work/i/hangs"
sleep 60
EOF
settings=(HALFTONE_DATA="$work/i/data" HALFTONE_SECONDS=22)
run_on "$work/i" profile
expect 'profile: cut off' "$work/i/out"
[[ -s $work/i/hangs ]] || complain "no program hangs"
# Killed, it may still be in the list of processes, as a zombie.
! grep -qs '^State:.*[RSDT] ' "/proc/$(cat "$work/i/hangs")/status" || complain "a program that hangs is left behind"

((failures == 0)) || exit 1
echo "run.sh: all as expected"
