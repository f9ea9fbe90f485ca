#!/usr/bin/env bash
# cuda12_toolkit.sh [FOLDER]: puts CUDA 12.4's compiler, headers and static run time into FOLDER (default: cuda-12.4 in the user's
# data folder), on Debian 12. For a kit that runs with drivers from 525 (CUDA 13 needs 580):
#
#   installer/cuda12_toolkit.sh
#   CUDACXX=~/.local/share/halftone/cuda-12.4/bin/nvcc installer/gpu_kit.sh build/gpu-kit-12
#
# The files are those of Debian 13's packages in non-free, which are fetched (1 GB, 5 GB while they are unpacked) and not
# installed: programs that are compiled here still ask for no glibc newer than 2.36. GCC 13 is the newest that this compiler
# takes, and Debian 12 has 12. Headers of cuDNN 9 and NCCL are copied from the toolkit or wheels that are there: those of CUDA
# 13 will do, since they declare the same functions.
#
# Needs no root. Does nothing if the folder is complete; `rm -r` of it removes everything.
#
# HALFTONE_DEBS    folder with the packages, if they were fetched before
# CUDNN_HEADERS    folder with cudnn.h of version 9 (default: that of /usr/local/cuda or of Python's wheels)
set -euo pipefail

folder=$(realpath -m "${1:-${XDG_DATA_HOME:-$HOME/.local/share}/halftone/cuda-12.4}")
[[ ! -e $folder/complete ]] || { echo "$folder is complete"; exit 0; }
suite=trixie
compiler=(nvidia-cuda-toolkit libnvvm4 libcudart12 libnvjpeg12)
headers=(libcu++-dev libcub-dev libthrust-dev)
development=nvidia-cuda-dev
least_room_mb=8000

fail() {
    echo "cuda12_toolkit.sh: $*" >&2
    exit 1
}

for tool in apt-get dpkg-deb; do
    command -v "$tool" > /dev/null || fail "no $tool: the packages are Debian's"
done
[[ $(uname -m) == x86_64 ]] || fail "the packages are for x86-64 only"
cudnn=${CUDNN_HEADERS:-}
for place in /usr/local/cuda/include "$HOME"/.local/share/halftone/cuda/lib/python3*/site-packages/nvidia/cudnn/include; do
    if [[ ! $cudnn && -e $place/cudnn_graph.h ]]; then cudnn=$place; fi
done
[[ $cudnn ]] || fail "no headers of cuDNN 9 here; set CUDNN_HEADERS to their folder (installer/cuda_wheels.sh fetches them)"
[[ -e $cudnn/cudnn_graph.h ]] || fail "$cudnn has no headers of cuDNN 9"
mkdir -p "$folder"
room=$(df -Pm "$folder" | awk 'NR == 2 {print $4}')
((room >= least_room_mb)) || fail "the packages take $least_room_mb MB while they are unpacked, and $folder has $room"
work=$(mktemp -d "$folder/unpacking.XXXXXX")
trap 'rm -rf "$work"' EXIT

# apt with lists, settings and a state of its own, so that the machine's stay as they are.
apt() {
    apt-get -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt/cache" \
        -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o APT::Architecture=amd64 "$@"
}

fetch() {  # FOLDER
    local mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [[ -e $keys ]] || fail "no $keys (Debian's package debian-archive-keyring)"
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        awk '$2 == "main" && $1 !~ /security/ {print $1; exit}')
    [[ $mirror ]] || fail "apt names no mirror of Debian"
    mkdir -p "$work/apt"/{lists/partial,cache/archives/partial}
    : > "$work/apt/status"
    echo "deb [signed-by=$keys] $mirror $suite main non-free" > "$work/apt/sources.list"
    apt update -qq || fail "the lists of $suite could not be fetched"
    (cd "$1" && apt download "${compiler[@]}" "${headers[@]}" "$development") || fail "the packages could not be fetched"
}

debs=${HALFTONE_DEBS:-}
if [[ ! $debs ]]; then
    debs=$work/debs
    mkdir "$debs"
    fetch "$debs"
fi
package() {  # NAME
    local found
    found=$(find "$debs" -name "${1}_*.deb" | sort -V | tail -1)
    [[ $found ]] || fail "no package $1 in $debs"
    echo "$found"
}

files=()
for name in "${compiler[@]}" "${headers[@]}" "$development"; do
    file=$(package "$name")
    files+=("$file")
done

root=$work/root
mkdir "$root"
for file in "${files[@]::${#files[@]}-1}"; do dpkg-deb -x "$file" "$root"; done
# Most bytes of the last one are static libraries that the program does not link to.
dpkg-deb --fsys-tarfile "${files[-1]}" |
    tar -x -C "$root" --wildcards './usr/include/*' '*/libcudart_static.a' '*/libcudadevrt.a' '*/libcudart.so' '*/stubs/libcuda.so' ||
    fail "$development is not as expected"

# The layout of NVIDIA's own toolkit, which CMake and nvcc look for.
mkdir -p "$folder"/{bin,nvvm/bin,lib64/stubs}
toolkit=$root/usr/lib/nvidia-cuda-toolkit
cp "$toolkit/bin/nvcc" "$folder/bin/"
for tool in __nvcc_device_query bin2c cudafe++ cuobjdump fatbinary nvdisasm nvlink nvprune ptxas; do
    cp "$root/usr/bin/$tool" "$folder/bin/"
done
cp -r "$toolkit/bin/crt" "$folder/bin/"
cp "$toolkit/bin/cicc" "$folder/nvvm/bin/"
cp -r "$toolkit/libdevice" "$folder/nvvm/"
cp -r "$root/usr/include" "$folder/"
libraries=$root/usr/lib/x86_64-linux-gnu
cp -P "$libraries"/libcudart.so* "$libraries"/libcudart_static.a "$libraries"/libcudadevrt.a "$libraries"/libnvjpeg.so* \
    "$folder/lib64/"
cp "$libraries/stubs/libcuda.so" "$folder/lib64/stubs/"
cat > "$folder/bin/nvcc.profile" << 'EOF'
TOP                = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH              += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES          += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES         =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
EOF

cp "$cudnn"/cudnn*.h "$folder/include/"
if [[ -e $cudnn/nccl.h ]]; then cp "$cudnn/nccl.h" "$folder/include/"; fi

echo '__global__ void nothing() {} int main() { nothing<<<1, 1>>>(); }' > "$work/try.cu"
"$folder/bin/nvcc" -std=c++17 -arch=sm_75 -cudart static -o "$work/try" "$work/try.cu" || fail "nvcc does not compile"
touch "$folder/complete"
"$folder/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/CUDA \1/p'
echo "in $folder"
