#!/usr/bin/env bash
# check_mirrors_test.sh: the check of the tests' names passes a good tree and refuses each way of leaving the mirror.
set -u
checker=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_mirrors.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

make_good_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{kernels/{cpu,cuda},engine/src/norm,tests/{kernels/cuda,engine/norm}}
    touch "$tree"/kernels/{cpu/gemm.cpp,cuda/gemm.cu,cuda/graph.cpp,cuda/library.cpp} "$tree/engine/src/norm/batch_norm.cpp"
    touch "$tree"/tests/kernels/{gemm_test.cpp,graph_test.cpp,problem.h,cuda/library_test.cpp}
    touch "$tree"/tests/engine/{norm/batch_norm_test.cpp,whole_test.cpp}
    echo 'SOURCES gemm_test.cpp graph_test.cpp cuda/library_test.cpp' > "$tree/tests/kernels/CMakeLists.txt"
    echo 'SOURCES norm/batch_norm_test.cpp whole_test.cpp' > "$tree/tests/engine/CMakeLists.txt"
    printf '# the whole\ntests/engine/whole_test.cpp  # of everything\n' > "$tree/exceptions.txt"
}

check() {
    "$checker" "$tree" "$tree/exceptions.txt" tests/kernels=kernels/cpu,kernels/cuda tests/kernels/cuda=kernels/cuda \
        tests/engine=engine/src
}

expect_refused() {  # TEXT, of the tree as it is
    local output
    if output=$(check); then
        echo "FAILED: not refused: $1"
        failures=$((failures + 1))
    elif [[ $output != *"$1"* ]]; then
        echo "FAILED: $1: refused for another reason: $output"
        failures=$((failures + 1))
    fi
}

make_good_tree
if ! output=$(check); then
    echo "FAILED: a good tree is refused: $output"
    failures=$((failures + 1))
fi

make_good_tree
echo 'HALFTONE_NORM(batch_norm)' > "$tree/engine/src/norm/descriptors.inc"
echo 'SOURCES whole_test.cpp' > "$tree/tests/engine/CMakeLists.txt"
if ! output=$(check); then
    echo "FAILED: the test of a kind is refused: $output"
    failures=$((failures + 1))
fi
mkdir "$tree"/{engine/src,tests/engine}/norm/batch
mv "$tree/engine/src/norm/batch_norm.cpp" "$tree/engine/src/norm/batch"
mv "$tree/tests/engine/norm/batch_norm_test.cpp" "$tree/tests/engine/norm/batch"
if ! output=$(check); then
    echo "FAILED: the test of a kind in a sub-room is refused: $output"
    failures=$((failures + 1))
fi
mv "$tree/tests/engine/norm/batch/batch_norm_test.cpp" "$tree/tests/engine/norm"
mv "$tree/engine/src/norm/batch/batch_norm.cpp" "$tree/engine/src/norm"
echo 'HALFTONE_NORM(layer_norm)' > "$tree/engine/src/norm/descriptors.inc"
expect_refused "tests/engine/norm/batch_norm_test.cpp: in no CMakeLists.txt"

make_good_tree
touch "$tree/tests/kernels/cuda_gemm_test.cpp"
expect_refused "tests/kernels/cuda_gemm_test.cpp: no kernels/cpu,kernels/cuda has"

make_good_tree
mv "$tree/kernels/cuda/library.cpp" "$tree/kernels/cpu/library.cpp"
expect_refused "tests/kernels/cuda/library_test.cpp: no kernels/cuda has"

make_good_tree
mv "$tree/tests/engine/norm/batch_norm_test.cpp" "$tree/tests/engine/batch_norm_test.cpp"
expect_refused "tests/engine/batch_norm_test.cpp: no engine/src has"

make_good_tree
touch "$tree/tests/engine/norm/batch_norm_of_one_test.cpp"
mkdir -p "$tree/tests/engine/scenario" && touch "$tree/tests/engine/scenario/a_long_story_test.cpp"
echo 'norm/batch_norm_of_one_test.cpp scenario/a_long_story_test.cpp' >> "$tree/tests/engine/CMakeLists.txt"
if ! output=$(check); then
    echo "FAILED: a test of a part of a source, or a scenario, is refused: $output"
    failures=$((failures + 1))
fi

make_good_tree
echo 'tests/engine/gone_test.cpp' >> "$tree/exceptions.txt"
expect_refused "exceptions.txt: tests/engine/gone_test.cpp is not there"

make_good_tree
echo 'tests/kernels/gemm_test.cpp' >> "$tree/exceptions.txt"
expect_refused "exceptions.txt: tests/kernels/gemm_test.cpp has a source"

make_good_tree
rm -r "$tree/tests/kernels/cuda"
expect_refused "tests/kernels/cuda: no such folder"

# Named for a source, but in no CMakeLists.txt; a test of the same name in another folder is.
make_good_tree
touch "$tree/tests/kernels/cuda/gemm_test.cpp"
expect_refused "tests/kernels/cuda/gemm_test.cpp: in no CMakeLists.txt"

make_good_tree
echo 'SOURCES norm/batch_norm_test.cpp' > "$tree/tests/engine/CMakeLists.txt"
expect_refused "tests/engine/whole_test.cpp: in no CMakeLists.txt"

make_good_tree
mkdir "$tree/tests/engine/scenario" && touch "$tree/tests/engine/scenario/a_long_story_test.cpp"
expect_refused "tests/engine/scenario/a_long_story_test.cpp: in no CMakeLists.txt"

make_good_tree
rm "$tree/tests/kernels/CMakeLists.txt"
expect_refused "tests/kernels/gemm_test.cpp: in no CMakeLists.txt"

((failures == 0)) && echo "check_mirrors.sh: four good trees passed, eleven broken ones refused"
((failures == 0))
