# shellcheck shell=bash
# What the build and its tests need, and how to get it. Sourced by run.sh and test.sh.
#
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
libcsv-dev
libprotozero-dev
libsqlite3-dev
libjpeg-dev
libpng-dev
libopenmpi-dev
openmpi-bin
python3-numpy
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

# Installs what is missing; does nothing, and asks nothing, if nothing is.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "No apt here, so nothing is installed. The build needs what Debian calls:" >&2
        halftone_packages | tr '\n' ' ' >&2
        echo >&2
        return 0
    fi
    local missing
    missing=$(missing_packages | tr '\n' ' ')
    [[ -z ${missing// /} ]] && return 0
    echo "Installing: $missing"
    as_root apt-get -q -o Acquire::Retries=3 update || return 1
    # shellcheck disable=SC2086  # a list of words
    as_root apt-get -q -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install --no-install-recommends $missing ||
        return 1
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
    return 1
}

cuda_compiler() {
    local folder
    command -v nvcc >/dev/null || [[ -n ${CUDACXX:-} ]] && return 0
    for folder in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda /opt/cuda; do
        [[ -x $folder/bin/nvcc ]] && return 0
    done
    # installer/cuda_wheels.sh writes this file last. Testing for nvcc would accept an interrupted installation.
    [[ -e ${XDG_DATA_HOME:-$HOME/.local/share}/halftone/cuda/complete ]]
}

# Installs what the CUDA backend needs if there is a card or a toolkit, and prints what it does. If a part of this fails,
# the build is for the CPU only.
prepare_cuda() {
    [[ ${HALFTONE_CUDA_FETCH:-yes} == no ]] && return 0
    if ! cuda_compiler; then
        nvidia_gpu || return 0
        if ! python3 -c 'import venv, ensurepip' 2>/dev/null && command -v apt-get >/dev/null; then
            local missing=python3-venv
            as_root apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing || true
        fi
        installer/cuda_wheels.sh || return 0
    fi
    installer/cudnn_frontend.sh || return 0
}

# Number of compile jobs: one per core, but at most one per gigabyte of memory, since compiling one file can take 1 GB.
build_jobs() {
    local cores gigabytes
    cores=$(nproc)
    gigabytes=$(awk '/MemTotal/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null)
    ((${gigabytes:-0} > 0 && gigabytes < cores)) && cores=$gigabytes
    echo "$cores"
}

# configure_and_build PRESET TARGET [CMAKE_ARGUMENT...]
configure_and_build() {
    local preset=$1 target=$2
    shift 2
    cmake --preset "$preset" --log-level=WARNING "$@" || return 1
    cmake --build --preset "$preset" --target "$target" --parallel "$(build_jobs)"
}
