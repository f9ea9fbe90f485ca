#!/usr/bin/env bash
# gpu_kit.sh [FOLDER]: on a machine without a GPU, builds all that tests/gpu/run.sh needs on one that has it. Writes two
# archives of at most 44 MiB to FOLDER (default: build/gpu-kit):
#
#   halftone-gpu.tar.xz       the programs, the scripts, and the names of CIFAR-100's classes
#   halftone-gpu-data.tar.xz  Fashion-MNIST, 5,000 pictures of CIFAR-100 and WikiText-2
#
# Unpack them into one folder and call tests/gpu/run.sh there. The programs run on any x86-64 Linux of glibc 2.36 or newer
# with an NVIDIA driver, without network, compiler or packages. cuBLASLt and cuDNN come from a toolkit there or from Python's
# wheels; the comparisons need PyTorch. Measurements of speed need the first archive alone. Without xz there,
# `python3 -m tarfile -e` unpacks the archives.
#
# The limit leaves either archive room beside the tracked files in 64 MiB. Both sums are printed at the end.
#
# CUDACXX              the CUDA compiler. installer/cuda12_toolkit.sh unpacks that of 12.4 for a kit that drivers from 525 run;
#                      13 needs 580
# HALFTONE_KIT_BUILD   the build (default: build/gpu-kit/build)
# HALFTONE_ARCH        the architectures, as CMake takes them. Default with CUDA 13: 90-real;100-real;120 (Hopper and
#                      Blackwell); with CUDA 12: 75-real;80-real;86-real;89-real;90 (Turing to Hopper). PTX of the newest
#                      is included, for later cards
# HALFTONE_DATA        folder with the data sets (default: ../shared/data); without it there is no archive of data
# HALFTONE_KIT_MIB     most MiB of an archive (default: 44)
# HALFTONE_REHEARSAL=1 the programs of the simulated device instead, to rehearse where there is no GPU
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/gpu-kit}")
build=${HALFTONE_KIT_BUILD:-build/gpu-kit/build}
data=${HALFTONE_DATA:-../shared/data}
glibc=2.36
most_bytes=$((${HALFTONE_KIT_MIB:-44} * 1024 * 1024))
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

# [PATH...]: the tracked files below them; without git all files but builds and data.
files_of() {
    git ls-files "$@" 2> /dev/null && return
    (($# > 0)) || set -- *
    find "$@" -name '.*' -prune -o -name __pycache__ -prune -o -name 'build*' -type d -prune -o \
        \( -path prebuilt -o -path data \) -prune -o -type f ! -name '*.py[co]' -print | LC_ALL=C sort
}

architectures() {
    local nvcc version
    for nvcc in "${CUDACXX:-nvcc}" /usr/local/cuda/bin/nvcc; do
        version=$("$nvcc" --version 2> /dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
        [[ ! $version ]] || break
    done
    if ((${version:-13} < 13)); then echo '75-real;80-real;86-real;89-real;90'; else echo '90-real;100-real;120'; fi
}

# The programs look for libraries beside themselves, for data and golden values below the folder that they are started in.
build_programs() {
    local target targets=()
    for target in "${programs[@]}"; do targets+=("$(basename "$target")"); done
    HALFTONE_CUDA=1 installer/cudnn_frontend.sh || fail "the CUDA backend needs the headers of cudnn-frontend"
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_UNITY=ON -DHALFTONE_UI=OFF -DHALFTONE_BENCH=OFF \
        -DHALFTONE_MPI=OFF -DHALFTONE_CUDA=REQUIRED -DCMAKE_CUDA_ARCHITECTURES="${HALFTONE_ARCH:-$(architectures)}" \
        -DHALFTONE_LIBRARIES=SHARED \
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
    installer/check_glibc.sh "$glibc" "$1/prebuilt" || fail "the kit would not start with glibc $glibc; build it on Debian 12"
    files_of tests/gpu tests/peer tests/bench | grep -E '\.(py|sh|md|json|safetensors|npz|txt)$|/golden/' |
        while read -r file; do install -D -m644 "$file" "$1/$file"; done
    chmod +x "$1"/tests/gpu/*.sh
}

# FROM TO [BYTES]: the beginning of a .gz file, or all of it, as a .gz file that is not compressed: readers expect that
# name, and xz compresses better what nothing else has compressed.
store_gz() {
    python3 - "$@" << 'EOF' || fail "$1 does not hold ${3:-its} bytes"
import gzip, sys
source, target, *size = sys.argv[1:]
with gzip.open(source) as file:
    data = file.read(int(size[0])) if size else file.read()
if size and len(data) != int(size[0]):
    sys.exit(1)
with open(target, "wb") as out, gzip.GzipFile("", "wb", 0, out, mtime=0) as stored:
    stored.write(data)
EOF
}

store_folder() {  # FROM TO
    local file
    mkdir "$2"
    for file in "$1"/*; do
        if [[ $file == *.gz ]]; then store_gz "$file" "$2/$(basename "$file")"; else cp --no-preserve=mode "$file" "$2/"; fi
    done
}

mebibytes() { awk -v bytes="$1" 'BEGIN {printf "%.1f MiB", bytes / 1048576}'; }

pack() {  # FOLDER NAME
    local file=$out/$2.tar.xz bytes
    tar --sort=name --owner=0 --group=0 -C "$1" -cf - . | xz -9e > "$file"
    bytes=$(stat -c %s "$file")
    # A rehearsal has the simulated device in each of its programs.
    ((bytes <= most_bytes)) || [[ $simulated ]] || fail "$file has $bytes bytes, more than $most_bytes"
    sizes+=("$file: $(mebibytes "$bytes"), with the tree $(mebibytes $((bytes + tree)))")
}

sizes=()
tree=$(files_of | tr '\n' '\0' | xargs -0 stat -c %s | awk '{bytes += $1} END {print bytes + 0}')
build_programs
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out" "$stage/programs" "$stage/data/data"
collect "$stage/programs"
if [[ -d $data/cifar100-15k ]]; then
    install -D -m644 -t "$stage/programs/prebuilt/cifar100" "$data"/cifar100-15k/*_label_names.txt
fi
pack "$stage/programs" halftone-gpu
if [[ -d $data/fashion-mnist && -d $data/cifar100-15k ]]; then
    store_folder "$data/fashion-mnist" "$stage/data/data/fashion-mnist"
    mkdir "$stage/data/data/cifar100-5k"
    cp --no-preserve=mode "$data"/cifar100-15k/*_label_names.txt "$stage/data/data/cifar100-5k/"
    # The records of the pack are in no order of class.
    store_gz "$data/cifar100-15k/train.bin.gz" "$stage/data/data/cifar100-5k/train.bin.gz" $((5000 * 3074))
    store_gz "$data/cifar100-15k/test.bin.gz" "$stage/data/data/cifar100-5k/test.bin.gz" $((1000 * 3074))
    if [[ -d $data/wikitext-2 ]]; then store_folder "$data/wikitext-2" "$stage/data/data/wikitext-2"; fi
    pack "$stage/data" halftone-gpu-data
else
    echo "no data sets in $data: no archive of data"
fi
echo "the tree: $(mebibytes "$tree")"
printf '%s\n' "${sizes[@]}"
