#!/usr/bin/env bash
# Installs what is missing, builds everything with the window, and runs every test. Arguments go to ctest
# (for instance: -R layering). With CI=true warnings are errors. CUDA code is compiled for one architecture if there is a
# toolkit; HALFTONE_CUDA and HALFTONE_JOBS are those of run.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=installer/packages.sh
source installer/packages.sh
room_mb=1600  # of the built folder

werror=OFF
[[ ${CI:-} == true ]] && werror=ON
started=$SECONDS

if ! install_packages; then
    echo "test.sh: NOT TESTED: the packages above could not be installed." >&2
    exit 1
fi
if ! choose_cuda tests || ! enough_room build/check $room_mb; then
    echo "test.sh: NOT TESTED: see above." >&2
    exit 1
fi
if ! configure_and_build check all "${cuda_arguments[@]}" "-DHALFTONE_WERROR=$werror" -DHALFTONE_UI=ON -DHALFTONE_TESTS=ON; then
    echo "test.sh: NOT TESTED: the build failed; the first error is above." >&2
    exit 1
fi
built=$SECONDS

log=build/check/test-output.txt
status=0
ctest --preset check --no-tests=error "$@" 2>&1 | tee "$log" || status=$?
counts=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 of \2 failed/p' "$log")
# One test of ctest runs a whole suite; ctest's log has the numbers of cases.
cases=$(awk '/^\[==========\] [0-9]+ tests? from .* ran\./ { ran += $2 } /^\[  SKIPPED \] [0-9]+ tests?, / { skipped += $4 }
    END { printf "%d cases, %d of them skipped", ran, skipped }' build/check/Testing/Temporary/LastTest.log)
times="build $((built - started)) s, tests $((SECONDS - built)) s"
if [[ $status != 0 ]]; then
    echo "test.sh: FAILED: ${counts:-no test ran} ($times)." >&2
    echo "Next: ctest --preset check --rerun-failed runs the failed tests again; $log has the whole output." >&2
    exit 1
fi
echo "test.sh: all tests passed: ${counts:-none}; $cases ($times)."
echo "Next: installer/run.sh opens the window; cmake --build --preset check and ctest --preset check -R NAME test a change."
echo "resources/handbook/first-hour.md is the way into the code."
