#!/usr/bin/env bash
# progress_test.sh: installer/progress.sh on a small real build by Ninja and on made-up output.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=installer/progress.sh
source "$root/installer/progress.sh"
same_command=installer/run.sh  # as packages.sh sets it
failures=0

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
expect() {  # EXPECTED FOUND WHAT
    [[ $1 == "$2" ]] || complain "$3: expected '$1', found '$2'"
}

# Shows LINE... as the output of a build with PLAN, on a terminal or not.
show() {  # yes|no PLAN LINE...
    local answer=$1 plan=$2
    shift 2
    on_terminal() { [[ $answer == yes ]]; }
    printf '%s\n' "$@" | show_progress "$plan" 4
}

test_plan_of_a_real_build() {
    mkdir small
    cat > small/build.ninja << 'END'
rule make
  command = touch $out
  description = Building CXX object $out
rule remake
  command = touch $out
  description = Re-running CMake...
  generator = 1
build engine/a.cpp.o: make
build ui/b.cpp.o: make
build other/c.txt: make
build all: phony engine/a.cpp.o ui/b.cpp.o other/c.txt
build always: phony
build build.ninja: remake | always
END
    expect $'1601\tthe engine\tBuilding CXX object engine/a.cpp.o
1801\tthe window\tBuilding CXX object ui/b.cpp.o
401\t-\tBuilding CXX object other/c.txt' "$(plan_build small all)" "a first build"
    # Ninja removes a log of another version than its own.
    cp -r small other
    ninja -C other -f "$work/other/build.ninja" engine/a.cpp.o > /dev/null
    local version
    version=$(head -n 1 other/.ninja_log)
    [[ $version == '# ninja log v'* ]] || complain "the version of ninja's log: '$version'"
    printf '%s\n0\t90\t1\tengine/a.cpp.o\tff\n' "$version" > small/.ninja_log
    expect $'1601\tthe engine' "$(plan_build small all | head -1 | cut -f 1,2)" "from a compiler cache"
    # The engine's file took twice the usual time: so will others, but for the one that has a time of its own.
    printf '%s\n0\t3200\t1\tengine/a.cpp.o\tff\n0\t1800\t1\tui/b.cpp.o\tff\n0\t3600\t1\tui/b.cpp.o\tff\n' "$version" > small/.ninja_log
    expect $'3201\tthe engine\tBuilding CXX object engine/a.cpp.o
3601\tthe window\tBuilding CXX object ui/b.cpp.o
801\t-\tBuilding CXX object other/c.txt' "$(plan_build small all)" "after a build"
    rm small/.ninja_log
    local output
    output=$(NINJA_STATUS=$progress_status ninja -C small -f "$work/small/build.ninja" all | show no "$(plan_build small all)" &&
        show no '' "$(NINJA_STATUS=$progress_status ninja -C small all -f "$work/small/build.ninja" | sed 1d)")
    [[ $output != *@@* && $output != *touch* ]] || complain "a real build: $output"
    expect '' "$(plan_build small all)" "nothing left to build"
    expect '' "$(plan_build missing all 2>&1)" "no build folder"
}

test_plan_weights() {
    mkdir -p unity/engine/CMakeFiles/engine.dir/Unity bin
    cat > bin/ninja << 'END'
#!/bin/sh
echo "ninja: Entering directory 'x'"
echo 'Building CXX object engine/CMakeFiles/engine.dir/Unity/unity_0_cxx.cxx.o'
echo 'Building CUDA object kernels/CMakeFiles/kernels.dir/cuda/cast.cu.o'
echo 'Building CXX object kernels/CMakeFiles/kernels.dir/cuda/device.cpp.o'
echo 'Building CXX object tests/simt/x.cpp.o'
echo 'Linking CXX executable halftone'
END
    chmod +x bin/ninja
    printf '#include "/a.cpp"\n\n#include "/b.cpp"\n#include "/c.cpp"\n' > unity/engine/CMakeFiles/engine.dir/Unity/unity_0_cxx.cxx
    echo '  FLAGS = --generate-code=arch=compute_75,code=[sm_75] --generate-code=arch=compute_80,code=[sm_80]' > unity/build.ninja
    expect $'3201\tthe engine\n4201\tthe CUDA kernels\n2251\tthe CUDA kernels\n1301\tthe simulated device\n401\tthe program' \
        "$(PATH=$work/bin:$PATH plan_build unity all | cut -f 1,2)" "unity files and architectures"
}

plan=$'5000\tthe engine\tBuilding CXX object engine/a.o\n5000\tthe window\tBuilding CXX object ui/b.o'

test_plain_lines() {
    local output
    output=$(show no "$plan" '@@1 2@@ Building CXX object engine/a.o' 'a.cpp:1: warning: odd' '@@2 2@@ Building CXX object ui/b.o')
    expect $'Building: 0 %, 0 min gone, less than a minute left\na.cpp:1: warning: odd' "$output" "plain lines"
    output=$(show no "$plan" 'ninja: no work to do.')
    expect 'Building: 0 %, 0 min gone, less than a minute left' "$output" "no work"
}

test_terminal_line() {
    local output
    output=$(show yes "$plan" '@@1 2@@ Building CXX object engine/a.o' 'a.cpp:1: warning: odd')
    expect $'\r\e[KBuilding: 0 %, 0 min gone, less than a minute left\r\e[KBuilding the engine: 50 %, 0 min gone, less than a minute left\r\e[Ka.cpp:1: warning: odd\n\r\e[KBuilding the engine: 50 %, 0 min gone, less than a minute left\r\e[K' \
        "$output" "renewed line"
}

# Twelve minutes into a build of 4500 compile seconds, of which it did two a second.
test_estimate() {
    local base_gone=0 base_finished=0 mark_gone=700 mark_finished=1500000
    local total=4500000 finished=1500000 started=$((SECONDS - 740)) jobs=2 terminal=no width=80 part='the tests'
    local shown='' shown_at=-1 shown_percent=0 percent=0
    expect 'Building the tests: 33 %, 12 min gone, about 25 min left' "$(progress_draw)" "estimate"
    shown_at=725 shown_percent=30
    expect '' "$(progress_draw)" "a line too early"
    shown_percent=28
    expect 'Building the tests: 33 %, 12 min gone, about 25 min left' "$(progress_draw)" "a line for 5 %"
    shown_at=710 shown_percent=33
    expect 'Building the tests: 33 %, 12 min gone, about 25 min left' "$(progress_draw)" "a line after 30 s"
    shown_at=-1
    # A fast beginning: half in the first 600 s, and in the 140 since then 100 s.
    finished=2350000 base_gone=600 base_finished=2250000
    expect 'Building the tests: 52 %, 12 min gone, about 32 min left' "$(progress_draw)" "a fast beginning"
    base_gone=0 base_finished=0
    finished=4500000
    expect 'Building the tests: 99 %, 12 min gone, less than a minute left' "$(progress_draw)" "the end"
}

# Without a plan, commands are counted. Lines that arrive in pieces stay whole, and so does a last line without an end.
test_pieces() {
    local output
    output=$({ printf '@@1 4@@ Bu'; sleep 1.5; printf 'ilding x\nan err'; sleep 1.5; printf 'or\nlast'; } |
        { on_terminal() { false; }; show_progress '' 2; })
    expect $'Building: 25 %, 0 min gone, less than a minute left\nan error\nlast' "$output" "pieces"
}

test_faults() {
    local output
    output=$(show no '' 'FAILED: engine/a.o' 'g++: fatal error: Killed signal terminated program cc1plus' 'ninja: build stopped: subcommand failed.')
    expect $'FAILED: engine/a.o\ng++: fatal error: Killed signal terminated program cc1plus\nninja: build stopped: subcommand failed.
Memory ran out and a compiler was killed. HALFTONE_JOBS=2 installer/run.sh continues with fewer compilers at a time.' "$output" "memory"
    output=$(show no '' 'FAILED: engine/a.o' 'a.s: fatal error: error writing to a.o: No space left on device' | tail -1)
    expect 'The disk is full. Free some space; then installer/run.sh continues.' "$output" "disk"
    output=$(show no '' 'ninja: error: opening build log: No space left on device' | tail -1)
    expect 'The disk is full. Free some space; then installer/run.sh continues.' "$output" "disk, by ninja"
    output=$(show no '' 'ccache: No space left on device' '@@1 1@@ Building x' | grep -c 'disk is full')
    expect 0 "$output" "a build that ended well"
    expect 'Memory ran out and a compiler was killed. Close other programs or add swap; then installer/run.sh continues.' \
        "$(explain_fault memory 1)" "one job"
    output=$(show no '' 'FAILED: engine/a.o' 'a.cpp:1:1: error: x')
    expect $'FAILED: engine/a.o\na.cpp:1:1: error: x' "$output" "an ordinary error"
}

test_plan_of_a_real_build
test_plan_weights
test_plain_lines
test_terminal_line
test_estimate
test_pieces
test_faults
((failures == 0)) || exit 1
echo "progress.sh: all as expected"
