# shellcheck shell=bash
# What the build and its tests need, how to get it, and the build itself. Sourced by run.sh and test.sh.

# shellcheck source=installer/progress.sh
source "${BASH_SOURCE[0]%/*}/progress.sh"

# The command that a person repeats after an interruption or a failure.
same_command=installer/${0##*/}

# One package a line, by the names that Debian 12, Debian 13 and Ubuntu 24.04 share. "a|b" means that either package will
# do; if neither is installed, the first is.

halftone_packages() {
    cat <<'LIST'
g++
cmake
ninja-build
ccache
pkg-config
mold
libgtest-dev
libgmock-dev
libbenchmark-dev
qt6-base-dev
qt6-svg-dev
libqcustomplot-dev
qt6-l10n-tools
qt6-translations-l10n
qt6-wayland
fonts-dejavu-core
fonts-droid-fallback|fonts-noto-cjk|fonts-wqy-microhei
libdnnl-dev
libhwy-dev
nettle-dev
nlohmann-json3-dev
libcli11-dev
zlib1g-dev
liblzma-dev
libarchive-dev
libcpp-httplib-dev
libcsv-dev
libutf8proc-dev
libprotozero-dev
tao-pegtl-dev
libsqlite3-dev
libjpeg-dev
libpng-dev
libexpat1-dev
libopenmpi-dev
openmpi-bin
python3-numpy
xz-utils
LIST
}

# Names of the packages that are not installed, one a line.
missing_packages() {
    local installed line name met
    installed=" $(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
        sed -n 's/^.i. *//p' | tr '\n' ' ') "
    while read -r line; do
        met=no
        for name in ${line//|/ }; do
            [[ $installed == *" $name "* ]] && met=yes
        done
        [[ $met == yes ]] || echo "${line%%|*}"
    done < <(halftone_packages)
}

# Runs apt-get as root: directly, or through sudo, which may ask for a password only where someone can type it.
as_root() {
    if [[ $(id -u) == 0 ]]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif ! command -v sudo >/dev/null; then
        echo "Root is needed to install them and there is no sudo here. As root, run:" >&2
        echo "    apt-get update && apt-get install --no-install-recommends $missing" >&2
        return 1
    elif [[ -t 0 ]]; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# apt_get LOG ARGUMENT...: apt-get as root, shown and appended to LOG.
apt_get() {
    local log=$1
    shift
    # English, for explain_apt.
    as_root env LC_ALL=C apt-get -q -o Acquire::Retries=3 "$@" 2>&1 | tee -a "$log"
    return "${PIPESTATUS[0]}"
}

# explain_apt LOG: the most likely reason of a failure, in a sentence.
explain_apt() {
    local again="then $same_command continues."
    if grep -qiE "no space left on device|don't have enough free space" "$1"; then
        echo "The disk is full: the packages need more space than is free. Free some; $again"
    elif grep -qE 'Could not get lock|Unable to acquire the dpkg' "$1"; then
        echo "Another program is installing packages. Wait until it has ended; $again"
    elif grep -qE 'dpkg was interrupted' "$1"; then
        echo "An earlier installation was interrupted. Run 'dpkg --configure -a' as root; $again"
    elif grep -qE '^sudo:|not in the sudoers file|not allowed to execute' "$1"; then
        echo "Root is needed to install packages, and sudo did not allow it. As root, run:"
        echo "    apt-get update && apt-get install --no-install-recommends $missing"
    elif grep -qiE 'resolving|could not connect|connection (failed|timed out|refused)|unable to connect|network is unreachable' "$1"; then
        echo "The packages could not be fetched: no connection to the package server. Connect to the network; $again"
    elif grep -qE 'Unable to locate package|has no installation candidate' "$1"; then
        echo "This system's package sources lack a package. Debian 12 and 13 and Ubuntu 24.04 (with universe) have all of them."
    elif grep -qE 'Failed to fetch|Unable to fetch' "$1"; then
        echo "A package could not be fetched. Check the network; $again"
    fi
}

# Installs what is missing; does nothing, and asks nothing, if nothing is.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "No apt here, so nothing is installed. The build needs what Debian calls:" >&2
        halftone_packages | tr '\n' ' ' >&2
        echo >&2
        return 0
    fi
    local missing log status=0
    missing=$(missing_packages | tr '\n' ' ')
    [[ -z ${missing// /} ]] && return 0
    echo "Installing: $missing"
    log=$(mktemp) || return 1
    # shellcheck disable=SC2086  # a list of words
    { apt_get "$log" update &&
        apt_get "$log" -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing; } || status=1
    [[ $status == 0 ]] || explain_apt "$log" >&2
    rm -f "$log"
    [[ $status == 0 ]] || return 1
    missing=$(missing_packages | tr '\n' ' ')
    [[ -z ${missing// /} ]] || { echo "Still not installed: $missing" >&2; return 1; }
}

# Whether this machine has an NVIDIA card, with or without a driver.
nvidia_gpu() {
    [[ -e /proc/driver/nvidia/version ]] && return 0
    local device
    for device in /sys/bus/pci/devices/*; do
        # Vendor NVIDIA, class display controller.
        [[ $(cat "$device/vendor" 2>/dev/null) == 0x10de && $(cat "$device/class" 2>/dev/null) == 0x03* ]] && return 0
    done
    # Under WSL neither exists.
    [[ -n $(card_architectures) ]]
}

# The compute capabilities of this machine's cards as CMake's list of architectures, such as "86;90". Empty without a driver.
card_architectures() {
    command -v nvidia-smi >/dev/null || return 0
    timeout 30 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -nE 's/^ *([0-9]+)\.([0-9]) *$/\1\2/p' | sort -nu | paste -sd ';' || true
}

# Whether there is a card that Halftone supports: with compute capability 7.5 or higher, or with an unknown one.
usable_gpu() {
    local card cards
    nvidia_gpu || return 1
    cards=$(card_architectures)
    for card in ${cards//;/ }; do ((card < 75)) || return 0; done
    [[ -z $cards ]]
}

# Prints the path of a toolkit's compiler. Fails if there is none.
find_nvcc() {
    local file
    command -v "${CUDACXX:-nvcc}" && return 0
    for file in ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        [[ -x $file ]] && { echo "$file"; return 0; }
    done
    # installer/cuda_wheels.sh writes `complete` last. Testing for nvcc would accept an interrupted installation.
    local wheels=${XDG_DATA_HOME:-$HOME/.local/share}/halftone/cuda
    [[ -e $wheels/complete ]] || return 1
    for file in "$wheels"/lib/python3*/site-packages/nvidia/*/bin/nvcc; do echo "$file"; done | head -n 1
}

# Fetches what the CUDA backend needs and prints what it does: a toolkit only with `fetch`, for a machine that has none. If a
# part of this fails, the build is for the CPU only.
prepare_cuda() {  # fetch|keep
    [[ ${HALFTONE_CUDA_FETCH:-yes} == no ]] && return 0
    if ! find_nvcc >/dev/null; then
        [[ $1 == fetch ]] || return 0
        if ! python3 -c 'import venv, ensurepip' 2>/dev/null && command -v apt-get >/dev/null; then
            local missing=python3-venv
            as_root apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing || true
        fi
        installer/cuda_wheels.sh || return 0
    fi
    installer/cudnn_frontend.sh || return 0
}

# Prints the architectures of the cards here that Halftone supports, as CMake's list. Prints nothing if the driver does not
# report them or if the toolkit is too old for one of them.
choose_architectures() {
    local card cards nvcc known='' chosen=()
    cards=$(card_architectures)
    nvcc=$(find_nvcc) && known=$("$nvcc" --list-gpu-arch 2>/dev/null)
    for card in ${cards//;/ }; do
        ((card >= 75)) || continue
        [[ -z $known || $known == *"compute_$card"* ]] || return 0
        chosen+=("$card")
    done
    (IFS=';'; echo "${chosen[*]}")
}

# choose_cuda product|tests: chooses what to compile for NVIDIA cards, fetches what that needs, and sets cuda_arguments for
# configure_and_build. HALFTONE_CUDA=0 leaves CUDA out; HALFTONE_CUDA=1 requires it.
#
#              product                               tests
#   no card    nothing; with 1 all architectures     9.0 if a toolkit is there, so that the code keeps compiling
#   a card     its architecture, or all if unknown   its architecture, or 9.0 if unknown
#
# Each of the two CMake variables is set or removed, because the cache of an older build may hold others.
choose_cuda() {
    local asked=${HALFTONE_CUDA:-} fetch=keep cuda architectures
    cuda_arguments=(-DHALFTONE_CUDA=OFF)
    case $asked in
        '') cuda=ON ;;
        1) cuda=REQUIRED fetch=fetch ;;
        0) echo "CUDA: left out (HALFTONE_CUDA=0)."; return 0 ;;
        *) echo "HALFTONE_CUDA is '$asked'; it takes 0 (without CUDA) or 1 (with CUDA)." >&2; return 1 ;;
    esac
    if usable_gpu; then
        fetch=fetch
    elif [[ $1 == product && -z $asked ]]; then
        echo "CUDA: left out, because there is no NVIDIA card from compute capability 7.5 on (HALFTONE_CUDA=1 $same_command builds it)."
        return 0
    fi
    prepare_cuda $fetch
    cuda_arguments=("-DHALFTONE_CUDA=$cuda")
    architectures=$(choose_architectures)
    [[ $architectures || $1 == product ]] || architectures=90
    if [[ $architectures ]]; then
        cuda_arguments+=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
    else
        cuda_arguments+=(-UCMAKE_CUDA_ARCHITECTURES)
        echo "CUDA: no card to compile for is known, so the kernels are compiled for all supported architectures."
    fi
}

# Megabytes of memory that a build may take.
free_megabytes() {
    awk -v limit="$(cat /sys/fs/cgroup/memory.max 2>/dev/null)" '
        /^MemAvailable:/ { free = int($2 / 1024) }
        END {
            if (limit ~ /^[0-9]+$/ && limit / 1048576 < free) free = int(limit / 1048576)
            print free
        }' /proc/meminfo 2>/dev/null
}

# build_jobs FOLDER: the number of compile jobs: HALFTONE_JOBS, or one per core as far as memory is free. Compiling one file
# can take 1 GB, and several sources in one (a unity build) 1.5 GB.
build_jobs() {
    local cores megabytes most job=1000
    if [[ ${HALFTONE_JOBS:-} =~ ^[1-9][0-9]*$ ]]; then
        echo "$HALFTONE_JOBS"
        return
    fi
    ! grep -qsiE '^HALFTONE_UNITY:[a-z]+=(on|true|yes|1)$' "$1/CMakeCache.txt" || job=1500
    cores=$(nproc)
    megabytes=$(free_megabytes)
    most=$((${megabytes:-0} / job))
    if ((${megabytes:-0} == 0 || most >= cores)); then
        echo "$cores"
    else
        ((most > 0)) || most=1
        echo "Compile jobs: $most of $cores, because $megabytes MB of memory are free." >&2
        echo "$most"
    fi
}

# enough_room FOLDER MEGABYTES: fails, with a sentence, if a build of this size would not fit. What FOLDER already holds
# counts as built.
enough_room() {
    local built room
    mkdir -p "$1" 2>/dev/null || { echo "$PWD/$1 cannot be written." >&2; return 1; }
    built=$(du -sm "$1" | cut -f 1)
    room=$(df -Pm "$1" | awk 'NR == 2 {print $4}')
    ((built + room >= $2)) && return 0
    echo "The disk is too full: the build needs $(($2 - built)) MB more in $PWD/$1, and $room MB are free. Free some; then" \
        "$same_command continues." >&2
    return 1
}

stop_build() {
    echo
    echo "Interrupted. What is compiled stays: $same_command continues from here."
    trap - INT
    kill -INT $$
}

# configure_and_build PRESET TARGET [CMAKE_ARGUMENT...]: returns the exit status of CMake or of the build.
configure_and_build() {
    local preset=$1 target=$2 folder=build/$1 jobs plan status started=$SECONDS
    shift 2
    trap stop_build INT
    # CMake's message about CUDA is for everyone. Warnings and errors are on the other stream.
    cmake --preset "$preset" "$@" | sed -n '/switched off/d; s/^-- \(CUDA: .*\)/\1/p'
    status=${PIPESTATUS[0]}
    if [[ $status == 0 ]]; then
        jobs=$(build_jobs "$folder")
        plan=$(plan_build "$folder" "$target")
        NINJA_STATUS=$progress_status cmake --build --preset "$preset" --target "$target" --parallel "$jobs" 2>&1 |
            show_progress "$plan" "$jobs"
        status=${PIPESTATUS[0]}
    fi
    trap - INT
    if [[ $status == 0 && -n $plan ]]; then
        started=$((SECONDS - started))
        if ((started < 60)); then echo "Built in $started s."; else echo "Built in $(((started + 30) / 60)) min."; fi
    fi
    return "$status"
}
