#!/usr/bin/env bash
# run_test.sh: installer/run.sh and test.sh on stand-ins for CMake, apt, the driver and the machine: what they compile for
# which cards, how many jobs they start, how failures are explained, and what comes after an interruption.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
tree=$work/tree
calls=$work/calls      # of the stand-ins
printed=$work/printed  # what the script printed

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
expect() {  # TEXT FILE
    grep -qF -- "$1" "$2" || { complain "no '$1' in $2:"; tail -20 "$2"; }
}
expect_none() {  # TEXT FILE
    ! grep -qF -- "$1" "$2" || { complain "'$1' in $2:"; tail -20 "$2"; }
}

stand_in() {  # NAME: the script comes on standard input
    { echo '#!/usr/bin/env bash'; echo "work='$work' calls='$calls'"; cat; } > "$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# The state of the machine is in files of $work/machine, one for each property.
set_up() {
    rm -rf "$work/machine" "$tree"
    mkdir -p "$work"/{bin,machine,home} "$tree/installer"
    : > "$calls"
    cp "$root"/installer/{run,test,packages,progress}.sh "$tree/installer/"
    cat >> "$tree/installer/packages.sh" << END
halftone_packages() { printf '%s\n' g++ cmake; }
nvidia_gpu() { [[ -e '$work/machine/card' ]]; }
find_nvcc() { [[ -e '$work/machine/nvcc' ]] && echo '$work/bin/nvcc'; }
free_megabytes() { cat '$work/machine/memory' 2>/dev/null || echo 64000; }
END
    local script
    for script in cuda_wheels cudnn_frontend; do
        printf '#!/bin/sh\necho %s >> "%s"\n' "$script" "$calls" > "$tree/installer/$script.sh"
        chmod +x "$tree/installer/$script.sh"
    done
}

make_stand_ins() {
    mkdir -p "$work/bin"
    # CMake configures a folder; its build prints and returns what the machine says, and makes a program.
    stand_in cmake << 'END'
echo "cmake $*" >> "$calls"
if [[ $1 == --preset ]]; then
    mkdir -p "build/$2"
    cp "$work/machine/cache" "build/$2/CMakeCache.txt" 2>/dev/null
    echo 'Preset CMake variables:'
    echo '-- Configuring done'
    echo '-- CUDA: nvcc 13.0 for 86'
    if [[ -e $work/machine/configure_fails ]]; then echo 'CMake Error: no compiler' >&2; exit 7; fi
    exit 0
fi
[[ ! -e $work/machine/slow ]] || sleep 20
cat "$work/machine/output" 2>/dev/null
printf '#!/bin/sh\necho "halftone $*"\nexit %s\n' "$(cat "$work/machine/program" 2>/dev/null || echo 0)" > "build/$3/halftone"
chmod +x "build/$3/halftone"
exit "$(cat "$work/machine/build" 2>/dev/null || echo 0)"
END
    stand_in ninja <<< 'echo "Building CXX object engine/a.o"'
    stand_in nproc <<< 'echo 8'
    # shellcheck disable=SC2016  # the stand-in's variables
    stand_in df <<< 'echo "Filesystem 1M Used Available"; echo "/dev/x 1 1 $(cat "$work/machine/room" 2>/dev/null || echo 90000)"'
    stand_in nvidia-smi << 'END'
[[ -e $work/machine/card ]] || { echo 'No devices were found'; exit 6; }
cat "$work/machine/card"
END
    stand_in nvcc <<< 'printf "compute_%s\n" 75 80 86 89 90'
    stand_in dpkg-query << 'END'
echo 'ii  g++'
[[ -e $work/machine/lacks ]] || echo 'ii  cmake'
END
    # shellcheck disable=SC2016
    stand_in id <<< 'cat "$work/machine/id" 2>/dev/null || echo 0'
    stand_in sudo <<< 'echo "sudo: a password is required" >&2; exit 1'
    stand_in apt-get << 'END'
echo "apt-get $*" >> "$calls"
[[ $* == *install* ]] || exit 0
if [[ -e $work/machine/apt ]]; then cat "$work/machine/apt" >&2; exit 100; fi
rm "$work/machine/lacks"
END
    stand_in ctest << 'END'
mkdir -p build/check/Testing/Temporary
echo '[==========] 5 tests from 1 test suite ran.' > build/check/Testing/Temporary/LastTest.log
if [[ -e $work/machine/test_fails ]]; then echo '90% tests passed, 1 tests failed out of 10'; exit 8; fi
echo '100% tests passed, 0 tests failed out of 10'
END
}

# installer [NAME=VALUE...] SCRIPT [ARGUMENT...]: runs it, with its output in $printed and its exit status in $status.
installer() {
    local settings=()
    while [[ $1 == *=* ]]; do settings+=("$1"); shift; done
    status=0
    env -u DISPLAY -u WAYLAND_DISPLAY -u HALFTONE_CUDA -u HALFTONE_CUDA_FETCH -u HALFTONE_JOBS -u CI -u CUDACXX -u CUDA_HOME \
        HOME="$work/home" PATH="$work/bin:/usr/bin:/bin" "${settings[@]}" "$tree/installer/$1" "${@:2}" > "$printed" 2>&1 < /dev/null ||
        status=$?
}
expect_status() { [[ $status == "$1" ]] || { complain "${FUNCNAME[1]}: exit status $status, not $1"; cat "$printed"; }; }

test_run_without_a_card() {
    set_up
    touch "$work/machine/nvcc"
    installer run.sh
    expect_status 0
    expect 'cmake --preset release -DHALFTONE_CUDA=OFF' "$calls"
    expect 'CUDA: left out, because there is no NVIDIA card' "$printed"
    expect '(HALFTONE_CUDA=1 installer/run.sh builds it)' "$printed"
    expect_none cuda_wheels "$calls"
    expect_none cudnn_frontend "$calls"
    expect_none 'Preset CMake variables' "$printed"
    expect 'halftone compare --report halftone-report' "$printed"
    [[ $(tail -2 "$printed") == 'Next: open halftone-report/report.html'*'--help lists'* ]] || complain "the last lines: $(tail -2 "$printed")"
    installer run.sh doctor --json
    expect 'halftone doctor --json' "$printed"
    installer DISPLAY=:1 run.sh
    [[ $(tail -1 "$printed") == 'halftone ' ]] || complain "the window is not last: $(tail -2 "$printed")"
    expect 'press Compare' "$printed"
    echo 5 > "$work/machine/program"
    installer run.sh
    expect_status 5
}

test_run_with_cards() {
    set_up
    echo '8.6' > "$work/machine/card"
    installer run.sh
    expect 'cmake --preset release -DHALFTONE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=86' "$calls"
    expect cuda_wheels "$calls"
    expect cudnn_frontend "$calls"
    expect 'CUDA: nvcc 13.0 for 86' "$printed"
    set_up
    touch "$work/machine/nvcc"
    printf '9.0\n8.6\n7.0\n8.6\n' > "$work/machine/card"
    installer run.sh
    expect '-DCMAKE_CUDA_ARCHITECTURES=86;90' "$calls"
    expect_none cuda_wheels "$calls"
    # No driver yet, and a card that this toolkit does not know.
    for card in '' '12.0'; do
        set_up
        touch "$work/machine/nvcc"
        echo "$card" > "$work/machine/card"
        installer run.sh
        expect '-DHALFTONE_CUDA=ON -UCMAKE_CUDA_ARCHITECTURES' "$calls"
        expect 'for all supported architectures' "$printed"
    done
    set_up
    echo '7.0' > "$work/machine/card"
    installer run.sh
    expect '-DHALFTONE_CUDA=OFF' "$calls"
    expect_none cuda_wheels "$calls"
}

test_halftone_cuda() {
    set_up
    installer HALFTONE_CUDA=1 run.sh
    expect '-DHALFTONE_CUDA=REQUIRED -UCMAKE_CUDA_ARCHITECTURES' "$calls"
    expect cuda_wheels "$calls"
    set_up
    echo '8.6' > "$work/machine/card"
    installer HALFTONE_CUDA=0 run.sh
    expect '-DHALFTONE_CUDA=OFF' "$calls"
    expect_none cuda_wheels "$calls"
    installer HALFTONE_CUDA=yes run.sh
    expect_status 1
    expect "HALFTONE_CUDA is 'yes'; it takes 0" "$printed"
    set_up
    echo '8.6' > "$work/machine/card"
    installer HALFTONE_CUDA_FETCH=no run.sh
    expect_none cuda_wheels "$calls"
    expect '-DHALFTONE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=86' "$calls"
}

test_tests() {
    set_up
    installer test.sh
    expect_status 0
    expect '-DHALFTONE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90' "$calls"
    expect_none cuda_wheels "$calls"
    expect_none cudnn_frontend "$calls"
    expect 'test.sh: all tests passed: 0 of 10 failed; 5 cases' "$printed"
    [[ $(tail -2 "$printed") == 'Next: installer/run.sh'*first-hour.md* ]] || complain "the last lines: $(tail -2 "$printed")"
    set_up
    touch "$work/machine/nvcc"
    installer test.sh
    expect cudnn_frontend "$calls"
    set_up
    echo '8.9' > "$work/machine/card"
    touch "$work/machine/test_fails"
    installer test.sh
    expect_status 1
    expect '-DCMAKE_CUDA_ARCHITECTURES=89' "$calls"
    expect cuda_wheels "$calls"
    expect 'test.sh: FAILED: 1 of 10 failed' "$printed"
    expect '--rerun-failed' "$printed"
}

test_jobs() {
    set_up
    installer run.sh
    expect '--parallel 8' "$calls"
    expect_none 'Compile jobs' "$printed"
    echo 3900 > "$work/machine/memory"
    installer run.sh
    expect '--parallel 3' "$calls"
    expect 'Compile jobs: 3 of 8, because 3900 MB of memory are free' "$printed"
    echo 'HALFTONE_UNITY:BOOL=ON' > "$work/machine/cache"
    installer run.sh
    expect '--parallel 2' "$calls"
    echo 300 > "$work/machine/memory"
    installer run.sh
    expect '--parallel 1' "$calls"
    installer HALFTONE_JOBS=5 run.sh
    expect '--parallel 5' "$calls"
}

test_build_failures() {
    set_up
    echo 3 > "$work/machine/build"
    printf 'FAILED: engine/a.o\ng++ -c a.cpp\na.cpp:1:1: error: odd\nninja: build stopped: subcommand failed.\n' > "$work/machine/output"
    installer run.sh
    expect_status 1
    expect 'a.cpp:1:1: error: odd' "$printed"
    expect_none 'Built in' "$printed"
    [[ $(tail -1 "$printed") == 'run.sh: the build failed; the first error is above.' ]] || complain "$(tail -2 "$printed")"
    echo 'g++: fatal error: Killed signal terminated program cc1plus' >> "$work/machine/output"
    installer test.sh
    expect 'HALFTONE_JOBS=4 installer/test.sh continues' "$printed"
    expect 'NOT TESTED' "$printed"
    rm "$work"/machine/{build,output}
    touch "$work/machine/configure_fails"
    : > "$calls"
    installer run.sh
    expect_status 1
    expect 'CMake Error: no compiler' "$printed"
    expect_none '--build' "$calls"
    # The status is CMake's own.
    (cd "$tree" && source installer/packages.sh && PATH="$work/bin:$PATH" configure_and_build release halftone > "$printed" 2>&1)
    status=$?
    expect_status 7
}

test_full_disk() {
    set_up
    echo 200 > "$work/machine/room"
    installer run.sh
    expect_status 1
    expect 'The disk is too full: the build needs' "$printed"
    expect 'and 200 MB are free' "$printed"
    expect_none '--build' "$calls"
}

test_packages() {
    set_up
    touch "$work/machine/lacks"
    installer run.sh
    expect_status 0
    expect 'install --no-install-recommends cmake' "$calls"
    local text
    while IFS='|' read -r text words; do
        set_up
        touch "$work/machine/lacks"
        echo "$text" > "$work/machine/apt"
        installer run.sh
        expect_status 1
        expect "$words" "$printed"
        expect 'nothing was built' "$printed"
    done << 'END'
W: Failed to fetch http://x Temporary failure resolving 'x'|no connection to the package server
E: Unable to locate package cmake|package sources lack a package
E: You don't have enough free space in /var/cache/apt/archives/.|The disk is full
E: Could not get lock /var/lib/dpkg/lock-frontend.|Another program is installing packages
E: dpkg was interrupted, you must manually run 'dpkg --configure -a'|An earlier installation was interrupted
END
    set_up
    touch "$work/machine/lacks"
    echo 1000 > "$work/machine/id"
    installer run.sh
    expect_status 1
    expect 'Root is needed to install packages, and sudo did not allow it' "$printed"
    expect 'apt-get install --no-install-recommends cmake' "$printed"
}

# Ctrl-C goes to all processes of the terminal's group.
test_interruption() {
    set_up
    touch "$work/machine/slow"
    local pid tries
    # A process that a script starts with & ignores SIGINT, and so would its children; Perl takes that back.
    # shellcheck disable=SC2016  # Perl's variable
    env -u DISPLAY -u WAYLAND_DISPLAY HOME="$work/home" PATH="$work/bin:/usr/bin:/bin" perl -e '
        $SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' "$tree/installer/run.sh" > "$printed" 2>&1 < /dev/null &
    pid=$!
    for ((tries = 0; tries < 600; tries++)); do
        grep -q -- --build "$calls" && break
        sleep 0.1
    done
    sleep 0.2
    kill -INT -- "-$pid"
    wait "$pid"
    status=$?
    expect_status 130
    [[ $(tail -1 "$printed") == 'Interrupted. What is compiled stays: installer/run.sh continues from here.' ]] ||
        complain "after Ctrl-C: $(tail -2 "$printed")"
}

make_stand_ins
test_run_without_a_card
test_run_with_cards
test_halftone_cuda
test_tests
test_jobs
test_build_failures
test_full_disk
test_packages
test_interruption
((failures == 0)) || exit 1
echo "run.sh and test.sh: all as expected"
