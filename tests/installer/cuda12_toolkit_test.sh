#!/usr/bin/env bash
# cuda12_toolkit_test.sh: installer/cuda12_toolkit.sh on stand-ins for apt, dpkg and the packages: what it fetches and in which
# order, what it keeps of it, and how it refuses.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
folder=$work/toolkit
calls=$work/calls      # of the stand-ins
printed=$work/printed  # what the script printed
packages='nvidia-cuda-toolkit libnvvm4 libcudart12 libnvjpeg12 libcu++-dev libcub-dev libthrust-dev'

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
expect() {  # TEXT FILE
    grep -qF -- "$1" "$2" || { complain "no '$1' in $2:"; tail -20 "$2"; }
}

stand_in() {  # NAME: the script comes on standard input
    { echo '#!/usr/bin/env bash'; echo "work='$work' calls='$calls'"; cat; } > "$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# The state of the machine is in files of $work/machine, one for each property.
make_stand_ins() {
    mkdir -p "$work/bin" "$work/home" "$work/cudnn"
    touch "$work/cudnn"/{cudnn,cudnn_graph,nccl,other}.h
    stand_in uname <<< 'cat "$work/machine/uname" 2>/dev/null || echo x86_64'
    stand_in df <<< 'echo "Filesystem 1M Used Available"; echo "/dev/x 1 1 $(cat "$work/machine/room" 2>/dev/null || echo 90000)"'
    stand_in apt-get << 'END'
words=()
while (($# > 0)); do
    if [[ $1 == -o ]]; then
        echo "$2" >> "$work/options"
        [[ $2 != Dir::Etc::sourcelist=* ]] || cp "${2#*=}" "$work/sources"
        shift 2
    else
        words+=("$1")
        shift
    fi
done
echo "apt-get ${words[*]}" >> "$calls"
[[ ! -e $work/machine/${words[0]}_fails ]] || exit 100
case ${words[0]} in
    indextargets) cat "$work/machine/mirrors" ;;
    download) for name in "${words[@]:1}"; do echo "$name" > "${name}_1_amd64.deb"; done ;;
esac
END
    # A package holds its name and version; what is in it is written here.
    stand_in dpkg-deb << 'END'
read -r name version < "$2" || exit 2
echo "dpkg-deb $1 $name${version:+ $version}" >> "$calls"
if [[ $1 == -x ]]; then to=$3; else to=$(mktemp -d "$work/stage.XXXXXX"); fi
libraries=$to/usr/lib/x86_64-linux-gnu toolkit=$to/usr/lib/nvidia-cuda-toolkit
mkdir -p "$to/usr"/{bin,include} "$libraries/stubs"
case $name in
    nvidia-cuda-toolkit)
        mkdir -p "$toolkit"/{bin/crt,libdevice}
        touch "$toolkit/bin/cicc" "$toolkit/bin/crt/link.stub" "$toolkit/libdevice/libdevice.10.bc"
        for tool in __nvcc_device_query bin2c cudafe++ cuobjdump fatbinary nvdisasm nvlink nvprune ptxas; do
            touch "$to/usr/bin/$tool"
        done
        cp "$work/bin/nvcc" "$toolkit/bin/nvcc" ;;
    libcudart12) touch "$libraries/libcudart.so.12" ;;
    libnvjpeg12) touch "$libraries/libnvjpeg.so.12" ;;
    libcu++-dev) mkdir "$to/usr/include/cuda" && touch "$to/usr/include/cuda/atomic" ;;
    nvidia-cuda-dev)
        touch "$to/usr/include/cuda_runtime.h" "$libraries"/lib{cudart_static,cudadevrt,cublas_static}.a "$libraries/libcudart.so"
        [[ -e $work/machine/no_stub ]] || touch "$libraries/stubs/libcuda.so" ;;
esac
[[ $1 == -x ]] || tar -c -C "$to" .
END
    stand_in nvcc << 'END'
echo "nvcc ${*//*\/}" >> "$calls"
if [[ $1 == --version ]]; then echo 'Cuda compilation tools, release 12.4, V12.4.131'; fi
[[ ! -e $work/machine/nvcc_fails ]]
END
}

set_up() {
    rm -rf "$work/machine" "$folder" "$work/options" "$work/sources" "$work/debs"
    mkdir "$work/machine"
    printf '%s\n' 'http://security.example/debian-security main' 'http://one.example/debian contrib' \
        'http://two.example/debian main' 'http://three.example/debian main' > "$work/machine/mirrors"
}
# Packages that were fetched before.
fill_debs() {
    local name
    mkdir "$work/debs"
    for name in $packages nvidia-cuda-dev; do echo "$name" > "$work/debs/${name}_1_amd64.deb"; done
}
install() {  # [VARIABLE=VALUE...]
    : > "$calls"
    env -u XDG_DATA_HOME -u HALFTONE_DEBS HOME="$work/home" CUDNN_HEADERS="$work/cudnn" PATH="$work/bin:$PATH" "$@" \
        "$BASH" "$root/installer/cuda12_toolkit.sh" "$folder" > "$printed" 2>&1
}
refuses() {  # TEXT [VARIABLE=VALUE...]
    local text=$1
    shift
    ! install "$@" || complain "not refused: $text"
    expect "cuda12_toolkit.sh: $text" "$printed"
    [[ ! -e $folder/complete ]] || complain "complete in spite of: $text"
    ! compgen -G "$folder/unpacking.*" > /dev/null || complain "left after: $text"
}
expect_calls() {  # the calls come on standard input
    diff "$calls" - > "$work/differs" || { complain "other calls:"; cat "$work/differs"; }
}
unpacking() {
    printf 'dpkg-deb -x %s\n' $packages
    printf '%s\n' 'dpkg-deb --fsys-tarfile nvidia-cuda-dev' 'nvcc -std=c++17 -arch=sm_75 -cudart static -o try try.cu' \
        'nvcc --version'
}

keys=/usr/share/keyrings/debian-archive-keyring.gpg

test_fetches_unpacks_and_tries() {
    set_up
    if [[ ! -e $keys ]]; then
        refuses "no $keys (Debian's package debian-archive-keyring)"
        return
    fi
    install || { complain "no toolkit"; cat "$printed"; }
    expect_calls < <(
        echo "apt-get indextargets --format \$(REPO_URI) \$(COMPONENT) Created-By: Packages Origin: Debian"
        echo "apt-get update -qq"
        echo "apt-get download $packages nvidia-cuda-dev"
        unpacking
    )
    # The machine's own lists and settings of apt take no part.
    expect "deb [signed-by=$keys] http://two.example/debian trixie main non-free" "$work/sources"
    local option
    for option in Dir::State Dir::State::status Dir::Cache Dir::Etc::sourcelist; do
        (($(grep -c "^$option=$folder/unpacking\." "$work/options") == 2)) || complain "$option: $(cat "$work/options")"
    done
    (($(grep -c '^Dir::Etc::sourceparts=/dev/null$' "$work/options") == 2)) || complain "$(cat "$work/options")"
}

test_holds_what_a_kit_needs() {
    set_up
    fill_debs
    install HALFTONE_DEBS="$work/debs" || { complain "no toolkit"; cat "$printed"; }
    expect_calls < <(unpacking)
    local file
    for file in bin/{nvcc,nvcc.profile,ptxas,fatbinary,cuobjdump,crt/link.stub} nvvm/bin/cicc nvvm/libdevice/libdevice.10.bc \
        include/{cuda_runtime.h,cuda/atomic,cudnn.h,cudnn_graph.h,nccl.h} \
        lib64/{libcudart.so.12,libcudart_static.a,libcudadevrt.a,libnvjpeg.so.12,stubs/libcuda.so} complete; do
        [[ -e $folder/$file ]] || complain "no $file"
    done
    for file in include/other.h lib64/libcublas_static.a; do
        [[ ! -e $folder/$file ]] || complain "$file takes room for nothing"
    done
    ! compgen -G "$folder/unpacking.*" > /dev/null || complain "the packages are still there"
    expect 'CUDA 12.4' "$printed"
    expect "in $folder" "$printed"
    # Once it is complete, nothing is done.
    install CUDNN_HEADERS=/nowhere || complain "a complete folder"
    expect "$folder is complete" "$printed"
    expect_calls < /dev/null
}

test_takes_the_newest_of_several_packages() {
    set_up
    fill_debs
    echo 'libnvvm4 older' > "$work/debs/libnvvm4_9_amd64.deb"
    echo 'libnvvm4 newer' > "$work/debs/libnvvm4_10_amd64.deb"
    install HALFTONE_DEBS="$work/debs" || complain "no toolkit"
    expect 'dpkg-deb -x libnvvm4 newer' "$calls"
}

# Reports all that can be known before a gigabyte is fetched.
test_refuses_before_it_fetches() {
    set_up
    mkdir -p "$work/few"
    ln -sf "$(command -v realpath)" "$work/few/"
    refuses "no apt-get: the packages are Debian's" PATH="$work/few"
    ln -sf "$work/bin/apt-get" "$work/few/"
    refuses "no dpkg-deb: the packages are Debian's" PATH="$work/few"
    echo aarch64 > "$work/machine/uname"
    refuses 'the packages are for x86-64 only'
    rm "$work/machine/uname"
    echo 7999 > "$work/machine/room"
    refuses "the packages take 8000 MB while they are unpacked, and $folder has 7999"
    rm "$work/machine/room"
    refuses "$work/home has no headers of cuDNN 9" CUDNN_HEADERS="$work/home"
    if [[ ! -e /usr/local/cuda/include/cudnn_graph.h ]]; then
        refuses 'no headers of cuDNN 9 here; set CUDNN_HEADERS to their folder' CUDNN_HEADERS=
    fi
    expect_calls < /dev/null
    [[ -e $keys ]] || return
    echo 'http://one.example/debian contrib' > "$work/machine/mirrors"
    refuses 'apt names no mirror of Debian'
}

test_refuses_what_it_cannot_fetch_or_use() {
    set_up
    if [[ -e $keys ]]; then
        touch "$work/machine/update_fails"
        refuses 'the lists of trixie could not be fetched'
        rm "$work/machine/update_fails"
        touch "$work/machine/download_fails"
        refuses 'the packages could not be fetched'
        ! grep -q dpkg-deb "$calls" || complain "unpacked what was not fetched"
        rm "$work/machine/download_fails"
    fi
    fill_debs
    rm "$work/debs"/libcub-dev_*
    refuses "no package libcub-dev in $work/debs" HALFTONE_DEBS="$work/debs"
    expect_calls < /dev/null
    echo libcub-dev > "$work/debs/libcub-dev_1_amd64.deb"
    touch "$work/machine/no_stub"
    refuses 'nvidia-cuda-dev is not as expected' HALFTONE_DEBS="$work/debs"
    rm "$work/machine/no_stub"
    touch "$work/machine/nvcc_fails"
    refuses 'nvcc does not compile' HALFTONE_DEBS="$work/debs"
    rm "$work/machine/nvcc_fails"
    install HALFTONE_DEBS="$work/debs" || complain "none of it is in the way of the next call"
    [[ -e $folder/complete && ! -e $folder/bin/crt/crt ]] || complain "$(find "$folder/bin")"
}

make_stand_ins
test_fetches_unpacks_and_tries
test_holds_what_a_kit_needs
test_takes_the_newest_of_several_packages
test_refuses_before_it_fetches
test_refuses_what_it_cannot_fetch_or_use
((failures == 0)) || exit 1
echo "cuda12_toolkit.sh: all as expected"
