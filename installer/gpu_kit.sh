#!/usr/bin/env bash
# gpu_kit.sh [FOLDER]: on a machine without a GPU, builds what tests/gpu/run.sh needs on one that has it: two archives of at
# most 60 MiB in FOLDER (default: build/gpu-kit), halftone-gpu.tar.gz with the programs and halftone-gpu-data.tar.gz with
# Fashion-MNIST, 5,000 pictures of CIFAR-100 and WikiText-2. Unpacked into one folder they run on any x86-64 Linux of glibc
# 2.36 or newer with an NVIDIA driver, without network, compiler or packages: tests/gpu/run.sh first. cuBLASLt and cuDNN come
# from a toolkit there or from Python's wheels; PyTorch, where there is one, is what the comparisons need.
#
# The programs share the kernels and the engine, compiled for compute capability 9.0 alone, and bring the libraries that they
# need but glibc's.
#
# HALFTONE_KIT_BUILD   the build (default: build/gpu-kit/build)
# HALFTONE_ARCH        the architecture to build for (default: 90)
# HALFTONE_DATA        folder with the data sets (default: ../shared/data); without it there is no archive of data
# HALFTONE_REHEARSAL=1 the programs of the simulated device instead, to rehearse where there is no GPU
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/gpu-kit}")
build=${HALFTONE_KIT_BUILD:-build/gpu-kit/build}
data=${HALFTONE_DATA:-../shared/data}
most_bytes=$((60 * 1024 * 1024))
simulated=''
if [[ ${HALFTONE_REHEARSAL:-} ]]; then simulated=_simt; fi

fail() {
    echo "gpu_kit.sh: $*" >&2
    exit 1
}

mapfile -t tests < <(tests/gpu/run.sh --programs)
((${#tests[@]} > 0)) || fail "tests/gpu/run.sh names no programs"
programs=("${tests[@]/#/tests/}")
if [[ $simulated ]]; then
    programs+=(tests/app/halftone_simt)
else
    programs+=(halftone)
fi

# What the programs look for beside themselves, and the data and golden values below the folder that they are started in.
build_programs() {
    local target targets=()
    for target in "${programs[@]}"; do targets+=("$(basename "$target")"); done
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_UI=OFF -DHALFTONE_BENCH=OFF -DHALFTONE_MPI=OFF \
        -DHALFTONE_CUDA=REQUIRED -DCMAKE_CUDA_ARCHITECTURES="${HALFTONE_ARCH:-90}" -DHALFTONE_LIBRARIES=SHARED \
        -DHALFTONE_DATA_DIR:STRING=data -DHALFTONE_GOLDEN_DIR:STRING=tests/peer/golden -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON \
        -DCMAKE_BUILD_RPATH='$ORIGIN;$ORIGIN/lib;$ORIGIN/../../lib' \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags
    cmake --build "$build" --target "${targets[@]}"
}

# FILE...: the libraries that they load, but those that belong to the machine.
libraries_of() {
    ldd "$@" | awk '/=> \// {print $3}' | sort -u |
        grep -vE '/(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libcuda|libnvidia-[a-z]+)\.so'
}

# A library with a search path of its own (DT_RUNPATH) does not look where its program does, and would be missed elsewhere.
all_from_kit() {  # FOLDER
    local others
    others=$(libraries_of "${programs[@]/#/$1/prebuilt/}" | grep -v "^$(realpath "$1")/") || return 0
    fail "loaded from this machine, not from the kit: $others"
}

# FOLDER...: the files below them that belong to the source, by find, since an archive of the source has no git. Bytecode of
# Python's and what .gitignore leaves out, which a test may have written, do not belong to it.
tree_files() {
    find "$@" -name '.*' -prune -o -name __pycache__ -prune -o -name 'build*' -type d -prune -o \
        -type f ! -name '*.py[co]' -print | LC_ALL=C sort
}

collect() {  # FOLDER
    local program library
    for program in "${programs[@]}"; do
        [[ -x $build/$program ]] || fail "$build has no $program"
        install -D -m755 "$build/$program" "$1/prebuilt/$program"
    done
    ! ldd "${programs[@]/#/$build/}" | grep 'not found' || fail "a library is not found"
    mkdir "$1/prebuilt/lib"
    for library in $(libraries_of "${programs[@]/#/$build/}"); do
        install -m755 "$(realpath "$library")" "$1/prebuilt/lib/$(basename "$library")"
    done
    find "$1/prebuilt" -type f -exec strip --strip-unneeded {} +
    all_from_kit "$1"
    tree_files tests/gpu tests/peer tests/bench | grep -E '\.(py|sh|md|json|safetensors|npz|txt)$|/golden/' |
        while read -r file; do install -D -m644 "$file" "$1/$file"; done
    chmod +x "$1"/tests/gpu/*.sh
}

# The first records of a pack of CIFAR-100, which are in no order of class.
cut_pictures() {  # FROM TO COUNT
    local bytes=$(($3 * 3074))
    (set +o pipefail; gzip -dc "$1" | head -c $bytes | gzip -9n > "$2")
    (($(gzip -dc "$2" | wc -c) == bytes)) || fail "$1 does not hold $3 pictures"
}

pack() {  # FOLDER NAME
    local file=$out/$2.tar.gz
    tar --sort=name --owner=0 --group=0 -C "$1" -cf - . | gzip -9n > "$file"
    local bytes
    bytes=$(stat -c %s "$file")
    # A rehearsal has the simulated device in each of its programs.
    ((bytes <= most_bytes)) || [[ $simulated ]] || fail "$file has $bytes bytes, more than $most_bytes"
    awk -v bytes="$bytes" -v file="$file" 'BEGIN {printf "%s: %.1f MiB\n", file, bytes / 1048576}'
}

build_programs
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out" "$stage/programs" "$stage/data/data"
collect "$stage/programs"
pack "$stage/programs" halftone-gpu
if [[ -d $data/fashion-mnist && -d $data/cifar100-15k ]]; then
    cp -r --no-preserve=mode "$data/fashion-mnist" "$stage/data/data/"
    mkdir "$stage/data/data/cifar100-5k"
    cp --no-preserve=mode "$data"/cifar100-15k/*_label_names.txt "$stage/data/data/cifar100-5k/"
    cut_pictures "$data/cifar100-15k/train.bin.gz" "$stage/data/data/cifar100-5k/train.bin.gz" 5000
    cut_pictures "$data/cifar100-15k/test.bin.gz" "$stage/data/data/cifar100-5k/test.bin.gz" 1000
    if [[ -d $data/wikitext-2 ]]; then cp -r --no-preserve=mode "$data/wikitext-2" "$stage/data/data/"; fi
    pack "$stage/data" halftone-gpu-data
else
    echo "no data sets in $data: no archive of data"
fi
