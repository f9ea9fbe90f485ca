#!/usr/bin/env bash
# at_level.sh LEVEL PROGRAM ARGUMENT...: runs a test program at a level of HALFTONE_CPU. Exit code 77, with the reason, where
# the processor lacks the level, and where it is the processor's own, which limits nothing (kernels/cpu/cpu_level.cpp): there
# the suites of the program run at it anyway.
set -euo pipefail
level=${1:?usage: at_level.sh LEVEL PROGRAM ARGUMENT...}
shift
# The message of a level that does not exist names the levels, and the processor's own.
message=$(HALFTONE_CPU=mmx "$1" --gtest_list_tests 2>&1 > /dev/null) || true
own=$(sed -n 's/.*this processor has those up to \(.*\)\.$/\1/p' <<< "$message")
levels=$(sed -n 's/.*The levels are \(.*\); this.*/\1/p' <<< "$message" | tr -d ' ')
[[ -n $own && ,$levels, == *",$level,"* ]] || { echo "at_level.sh: no level $level in: $message"; exit 1; }
if [[ $own == "$level" ]]; then
    echo "$level is this processor's own level, at which the suites run without HALFTONE_CPU"
    exit 77
fi
if [[ ,$levels, == *",$own,"*",$level,"* || ,$levels, == *",$own,$level,"* ]]; then
    echo "this processor lacks the level $level"
    exit 77
fi
HALFTONE_CPU=$level exec "$@"
