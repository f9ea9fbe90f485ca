# shellcheck shell=bash
# The parts that deb.sh and portable.sh share: the release build, its version and date, and the files beside a package. Sourced.
#
# Equal sources give equal bits: the build's path is mapped away (CMakeLists.txt), and every date is SOURCE_DATE_EPOCH:
# given, or that of the commit, or of the first entry of resources/handbook/changes.md.

# shellcheck source=installer/packages.sh
source "${BASH_SOURCE[0]%/*}/packages.sh"

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

project_version() {
    sed -nE 's/^project\(halftone VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt
}

release_date() {  # of this version, as in the page of changes
    sed -nE "s/^## ${version//./\\.} \(([0-9-]+)\)$/\1/p" resources/handbook/changes.md
}

# The date of everything: of a checkout its commit's, of unpacked sources the release's.
source_date() {
    [[ -e .git ]] && git log -1 --format=%ct 2> /dev/null && return
    date -u -d "$(release_date)" +%s
}

# build_release FOLDER CMAKE_ARGUMENT...: builds the program, with what may be passed on (NOTICE).
build_release() {
    local build=$1
    shift
    cmake --preset release -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DHALFTONE_TESTS=OFF -DHALFTONE_BENCH=OFF "$@" || fail "the build could not be configured"
    cmake --build "$build" --target halftone --parallel "$(build_jobs "$build")" || fail "the build failed"
}

# cached FOLDER NAME: a variable of the build.
cached() {
    sed -nE "s/^$2:[A-Z]+=//p" "$1/CMakeCache.txt"
}

# check_build FOLDER UI CUDA: a given build has, and lacks, what the package says, and may be passed on.
check_build() {
    [[ -x $1/halftone ]] || fail "$1 has no program"
    [[ $(cached "$1" HALFTONE_LIBRARIES) == STATIC ]] || fail "$1 is a build in shared libraries, for tests"
    [[ $(cached "$1" HALFTONE_UI) == "$2" ]] || fail "$1 was built with -DHALFTONE_UI=$(cached "$1" HALFTONE_UI)"
    [[ $(cached "$1" HALFTONE_MPI_USE) == opened ]] ||
        fail "$1 has MPI '$(cached "$1" HALFTONE_MPI_USE)': a package's program opens Open MPI while it runs"
    local cuda
    cuda=$(cached "$1" HALFTONE_CUDA)
    [[ $3 == OFF && $cuda != OFF || $3 == ON && $cuda != REQUIRED ]] && fail "$1 was built with -DHALFTONE_CUDA=$cuda"
    return 0
}

# needed_libraries FILE...: path of each library that they load.
needed_libraries() {
    ldd "$@" | awk '/=> \// {print $3}' | sort -u
}

# describe_package FILE PROGRAM [LIBRARY...]: writes FILE's SPDX list beside it, with the bundled libraries, and renews its folder's
# SHA256SUMS.
describe_package() {
    local file=$1 program=$2 folder
    folder=$(dirname "$file")
    shift 2
    python3 installer/sbom.py --name "$name" --version "$version" --file "$file" --program "$program" \
        --licences resources/licences.txt --date "$SOURCE_DATE_EPOCH" --bundled "$@" > "$file.spdx.json" || fail "no SPDX list of $file"
    (cd "$folder" && for file in *.deb *.tar.xz *.AppImage *.spdx.json; do [[ ! -e $file ]] || sha256sum "$file"; done) \
        > "$folder/SHA256SUMS"
}

megabytes() {
    awk -v bytes="$(stat -c %s "$1")" 'BEGIN {printf "%.1f MB", bytes / 1e6}'
}

# check_size FILE MEGABYTES
check_size() {
    (($(stat -c %s "$1") <= $2 * 1000000)) || fail "$1 has $(megabytes "$1"), more than $2 MB"
}

version=$(project_version)
[[ $version ]] || fail "CMakeLists.txt names no version"
[[ $(release_date) ]] || fail "resources/handbook/changes.md has no entry for $version"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_date)}
# Qt's resource compiler writes the dates of the files that it takes in.
export QT_RCC_SOURCE_DATE_OVERRIDE=$SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
