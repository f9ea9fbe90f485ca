#!/usr/bin/env bash
# check_reading_test.sh: the test of the readings passes a good tree and refuses each way of forgetting one.
set -u
checker=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_reading.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

make_good_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{kernels/cuda,kernels/shared,engine,app,tests/gpu/reading}
    cat > "$tree/kernels/cuda/cast.cu" << 'EOF'
// A __global__ void commented_kernel(int) in a comment, and /* __global__ */ another.
template <typename To,
          typename From>
__global__ void cast_kernel(To* y, const From* x) {}
__global__ void __launch_bounds__(256)
    bounded_kernel(float* y) {}
EOF
    echo 'template <typename T> static __global__ void sums_kernel(T* x) {}' > "$tree/kernels/cuda/sums.cuh"
    cat > "$tree/tests/gpu/reading/all.md" << 'EOF'
| kernel | bounds |
| --- | --- |
| `cast_kernel`, `bounded_kernel` (cast.cu), `sums_kernel` (sums.cuh) of all types | good |
EOF
    echo '| casts (`cast.cu`) | never |' > "$tree/tests/gpu/UNVERIFIED.md"
}

expect_refused() {  # TEXT: what the complaint holds; the tree was broken before
    local output
    if output=$("$checker" "$tree"); then
        echo "FAILED: not refused: $1"
        failures=$((failures + 1))
    elif [[ $output != *"$1"* ]]; then
        echo "FAILED: refused for another reason than '$1': $output"
        failures=$((failures + 1))
    fi
    make_good_tree
}

make_good_tree
if ! output=$("$checker" "$tree"); then
    echo "FAILED: a good tree is refused: $output"
    failures=$((failures + 1))
fi

echo '__global__ void new_kernel(int* x) {}' >> "$tree/kernels/cuda/cast.cu"
expect_refused 'cast.cu: new_kernel has no row'
echo 'template <int n> __global__ void __launch_bounds__(n) new_kernel(int* x) {}' >> "$tree/kernels/cuda/sums.cuh"
expect_refused 'sums.cuh: new_kernel has no row'
printf '#define MAKE(name) \\\n    __global__ void name##_kernel(int* x) {}\nMAKE(new)\n' >> "$tree/kernels/cuda/cast.cu"
expect_refused 'write them out'
printf '#define KERNEL __global__ void\nKERNEL new_kernel(int* x) {}\n' >> "$tree/kernels/cuda/cast.cu"
expect_refused 'write them out'
echo '#define KERNEL __global__ void' > "$tree/kernels/shared/kernel.h"
expect_refused 'outside of kernels/cuda'
sed -i 's/sums_kernel/totals_kernel/' "$tree/kernels/cuda/sums.cuh"
expect_refused 'a row of sums_kernel (sums.cuh), which is not there'
echo '| `cast_kernel` (cast.cu) | once more |' >> "$tree/tests/gpu/reading/all.md"
expect_refused 'more than one row of cast_kernel'
echo '| `cast_kernel` | of no file |' >> "$tree/tests/gpu/reading/all.md"
expect_refused 'a row of cast_kernel (?)'
touch "$tree/kernels/cuda/scan.cu"
expect_refused 'scan.cu is not in tests/gpu/UNVERIFIED.md'
echo '| scans (`scan.cu`) | never |' >> "$tree/tests/gpu/UNVERIFIED.md"
expect_refused 'names scan.cu, which is not there'
early='__global__ void early_kernel(float* y, Sizes s) {'
row='| `early_kernel` (early.cu) | good |'
start='void start() { launch_early("early", early_kernel, Grid{1, 1}, stream, y, s); }'
place='| early (`early.cu`) | never |'
make_early() {  # FIRST STATEMENT [KERNEL]
    printf '%s\n    %s\n    *y = 0;\n}\n%s\n' "${2:-$early}" "$1" "$start" > "$tree/kernels/cuda/early.cu"
    echo "$row" >> "$tree/tests/gpu/reading/all.md"
    echo "$place" >> "$tree/tests/gpu/UNVERIFIED.md"
}
make_early 'wait_for_earlier_kernels();'
if ! output=$("$checker" "$tree"); then
    echo "FAILED: a kernel that waits is refused: $output"
    failures=$((failures + 1))
fi
make_good_tree
make_early 'const float x = *y; wait_for_earlier_kernels();'
expect_refused 'early_kernel is launched early, but does not wait'
make_early 'wait_for_earlier_kernels();' '__global__ void early_kernel(float* __restrict__ y, Sizes s) {'
expect_refused 'a parameter that is __restrict__'
rm "$tree"/kernels/cuda/*
expect_refused 'no kernels in'
if output=$("$checker" "$tree" "$tree/no_such_library.a"); then
    echo "FAILED: a library without kernels passes"
    failures=$((failures + 1))
fi

((failures == 0)) && echo "all cases as expected"
exit $((failures > 0))
