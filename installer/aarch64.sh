#!/usr/bin/env bash
# aarch64.sh [TARGET...]: builds Halftone for ARM processors (aarch64) on a Debian machine of another kind, without window, CUDA and
# MPI, in build/aarch64, and runs the test programs among the targets in qemu (default: halftone kernels_test core_test
# memory_test). The libraries are this release's packages for arm64, unpacked in build/aarch64-root; the machine's own packages
# stay as they are, but for a compiler and qemu, which are installed if they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=installer/packages.sh
source installer/packages.sh
targets=("$@")
((${#targets[@]} > 0)) || targets=(halftone kernels_test core_test memory_test)
build=$PWD/build/aarch64 root=$PWD/build/aarch64-root

fail() {
    echo "aarch64.sh: $*" >&2
    exit 1
}

install_tools() {
    local missing="g++-aarch64-linux-gnu qemu-user-static"
    command -v aarch64-linux-gnu-g++ > /dev/null && command -v qemu-aarch64-static > /dev/null && return
    # shellcheck disable=SC2086  # a list of words
    as_root apt-get -q -y install --no-install-recommends $missing || fail "no compiler or no qemu (packages $missing)"
}

# Packages of libraries without those of the window, of MPI and of benchmarks. They need no root to be fetched.
libraries() {
    halftone_packages | grep -E -- '-dev$' | grep -vE 'qt6|qcustomplot|openmpi|benchmark'
}

# A package list of its own for apt, in which nothing is installed.
fetch_libraries() {
    local apt=$root/apt
    mkdir -p "$apt"/state/lists/partial "$apt"/cache/archives/partial
    : > "$apt/status"
    cat > "$apt/apt.conf" << EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Acquire::Languages "none";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Debug::NoLocking "true";
EOF
    export APT_CONFIG=$apt/apt.conf
    apt-get -q update || fail "the lists of arm64's packages could not be fetched"
    # shellcheck disable=SC2046  # a list of words
    apt-get -q -y --download-only install $(libraries) || fail "arm64's packages could not be fetched"
    unset APT_CONFIG
}

# The compiler brings the headers of C and C++ itself; a second copy would come before its own.
unpack_libraries() {
    local package link to
    mkdir -p "$root/usr/lib"
    ln -sfn usr/lib "$root/lib"
    for package in "$root"/apt/cache/archives/*.deb; do
        case ${package##*/} in libc6-dev_* | linux-libc-dev_* | libcrypt-dev_* | libc-dev-bin_*) continue ;; esac
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
    done
    # Links from one top folder to another are absolute.
    while IFS= read -r link; do
        to=$(readlink "$link")
        [[ $to == "$root"/* ]] || ln -sfn "$root$to" "$link"
    done < <(find "$root/usr" -type l -lname '/*')
    # The compiler knows a folder for the architecture's headers in its own C library alone.
    cp -rn "$root"/usr/include/aarch64-linux-gnu/. "$root/usr/include/"
    ln -sfn /usr/lib/gcc-cross "$root/usr/lib/gcc-cross"  # the compiler's libgomp
    touch "$root/complete"
}

build_targets() {
    # -O1 compiles sooner than a release's -O3.
    cmake --preset release -B "$build" --toolchain "$PWD/installer/aarch64.cmake" -DHALFTONE_SYSROOT="$root" \
        -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' -DHALFTONE_UI=OFF -DHALFTONE_CUDA=OFF \
        -DHALFTONE_MPI=OFF -DHALFTONE_BENCH=OFF -DHALFTONE_MOLD= || fail "the build could not be configured"
    cmake --build "$build" --target "${targets[@]}" --parallel "$(build_jobs "$build")" || fail "the build failed"
}

run_tests() {
    local target file failures=0
    for target in "${targets[@]}"; do
        [[ $target == *_test ]] || continue
        file=$(find "$build/tests" -name "$target" -type f -perm -u+x)
        SECONDS=0
        # qemu keeps the addresses that a program has given back.
        qemu-aarch64-static -L "$root" "$file" --gtest_brief=1 \
            --gtest_filter=-AddressSpace.IsCountedAgainstTheLimitOfTheProcess || failures=$((failures + 1))
        echo "$target: $SECONDS s"
    done
    ((failures == 0)) || fail "$failures test programs failed"
}

install_tools
[[ -e $root/complete ]] || { fetch_libraries && unpack_libraries; }
build_targets
run_tests
