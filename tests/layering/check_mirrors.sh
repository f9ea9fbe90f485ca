#!/usr/bin/env bash
# check_mirrors.sh ROOT EXCEPTIONS TESTS=SOURCES[,SOURCES...]...: each test is named for the source it tests. TESTS/F/x_test.cpp
# needs a SOURCES/F/x.* in one of its folders, and so does x_more_words_test.cpp; of several TESTS that hold a file, the
# longest counts. A folder scenario/ holds tests of several sources. All paths are relative to ROOT.
#
# Each test, those of scenario/ and the exceptions too, must stand in the nearest CMakeLists.txt at or above its folder,
# or be F/NAME_test.cpp or F/NAME_dataset_test.cpp of a kind NAME that descriptors.inc of SOURCES/F or above it lists.
#
# EXCEPTIONS lists the tests that belong to no single source file: one path a line, # begins a comment. A listed test that
# does not exist, or that does have a source file, is refused too.
set -uo pipefail
root=${1:?usage: check_mirrors.sh ROOT EXCEPTIONS TESTS=SOURCES...}
exceptions=${2:?usage: check_mirrors.sh ROOT EXCEPTIONS TESTS=SOURCES...}
shift 2
list=$(basename "$exceptions")
failures=0
tests=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

declare -A sources_of=()
for pair in "$@"; do
    sources_of[${pair%%=*}]=${pair#*=}
    [[ -d $root/${pair%%=*} ]] || complain "${pair%%=*}: no such folder of tests"
done

# The longest of the given folders that holds the test.
folder_of() {
    local folder=${1%/*}
    while [[ -z ${sources_of[$folder]:-} && $folder == */* ]]; do folder=${folder%/*}; done
    echo "$folder"
}

has_source() {
    local test=$1 folder name source
    folder=$(folder_of "$test")
    name=${test#"$folder"/}
    name=${name%_test.cpp}
    while :; do
        for source in ${sources_of[$folder]//,/ }; do
            compgen -G "$root/$source/$name.*" > /dev/null && return 0
        done
        [[ ${name##*/} == *_* ]] || return 1
        name=${name%_*}
    done
}

is_compiled() {
    local folder=${1%/*}
    while [[ ! -e $root/$folder/CMakeLists.txt && $folder == */* ]]; do folder=${folder%/*}; done
    grep -qwF "${1#"$folder"/}" "$root/$folder/CMakeLists.txt" 2> /dev/null || is_of_a_kind "$1"
}

is_of_a_kind() {
    local folder name source list
    folder=$(folder_of "$1")
    name=$(basename "$1" _test.cpp)
    for source in ${sources_of[$folder]//,/ }; do
        list=$source${1#"$folder"}
        while [[ $list == "$source"/* ]]; do
            list=${list%/*}
            grep -qE "^HALFTONE_[A-Z]+\\(${name%_dataset}\\)" "$root/$list/descriptors.inc" 2> /dev/null && return 0
        done
    done
    return 1
}

declare -A excepted=()
while read -r test _; do
    [[ -z $test || $test == \#* ]] && continue
    excepted[$test]=1
    if [[ ! -e $root/$test ]]; then
        complain "$list: $test is not there"
    elif [[ -n ${sources_of[$(folder_of "$test")]:-} ]] && has_source "$test"; then
        complain "$list: $test has a source, so it is no exception"
    fi
done < "$exceptions"

while read -r test; do
    tests=$((tests + 1))
    is_compiled "$test" || complain "$test: in no CMakeLists.txt"
    [[ -n ${excepted[$test]:-} || $test == */scenario/* ]] && continue
    has_source "$test" || complain "$test: no ${sources_of[$(folder_of "$test")]} has a source of this name"
done < <(cd "$root" && find "${!sources_of[@]}" -name '*_test.cpp' 2> /dev/null | sort -u)

echo "$tests tests, ${#excepted[@]} exceptions"
((failures == 0 && tests > 0))
