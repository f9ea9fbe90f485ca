#!/usr/bin/env bash
# deb.sh [FOLDER]: makes a Debian package of Halftone for the release that this machine runs (Debian 12 or 13, Ubuntu 24.04),
# with its SPDX list and SHA256SUMS, in FOLDER (default: build/packages). Libraries have other names in each release, so each has
# a package of its own: halftone_VERSION+RELEASE_ARCHITECTURE.deb.
#
# HALFTONE_CUDA=1        halftone-cuda instead: the same program with CUDA. It has no window, because the licences of QCustomPlot
#                        and of NVIDIA's run time do not go together (NOTICE)
# HALFTONE_BUILD=FOLDER  an existing build: Release, static, with Open MPI, as below
# HALFTONE_MAINTAINER    "NAME <ADDRESS>" in the package (default: the author of the commit; sources without git must be told)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=installer/release.sh
source installer/release.sh
out=$(realpath -m "${1:-build/packages}")
# Not the builder's own address, so that two people make the same package of one commit.
maintainer=${HALFTONE_MAINTAINER:-$([[ ! -e .git ]] || git log -1 --format='%an <%ae>')}
[[ $maintainer =~ ^[^\<\>]+\ \<[^\<\>@\ ]+@[^\<\>@\ ]+\>$ ]] ||
    fail "no maintainer for the package: set HALFTONE_MAINTAINER to 'NAME <ADDRESS>' (now: '$maintainer')"

name=halftone window=ON cuda=OFF
if [[ ${HALFTONE_CUDA:-0} == 1 ]]; then name=halftone-cuda window=OFF cuda=ON; fi
build=${HALFTONE_BUILD:-build/$name-deb}

# "deb12", "deb13", "ubuntu24.04": each sorts behind the one before, so that an upgrade of the system takes the newer package.
release() {
    # shellcheck source=/dev/null
    (source /etc/os-release && case $ID in debian) echo "deb$VERSION_ID" ;; *) echo "$ID$VERSION_ID" ;; esac)
}

build_package() {
    local tool
    for tool in dpkg-deb dpkg-shlibdeps strip python3; do
        command -v $tool > /dev/null || fail "this needs $tool (packages dpkg-dev, binutils, python3-minimal)"
    done
    if [[ ! ${HALFTONE_BUILD:-} ]]; then
        install_packages || fail "the packages above could not be installed"
        if [[ $cuda == ON ]]; then
            prepare_cuda fetch
            build_release "$build" -DHALFTONE_UI=OFF -DHALFTONE_CUDA=REQUIRED
        else
            build_release "$build" -DHALFTONE_UI=ON -DHALFTONE_CUDA=OFF
        fi
    fi
    check_build "$build" $window $cuda
}

# Puts the files of the package below $stage.
stage_files() {
    local share=$stage/usr/share doc=$stage/usr/share/doc/$name
    DESTDIR=$stage cmake --install "$build" --prefix /usr > /dev/null
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/usr/bin/halftone"
    mkdir -p "$share/zsh/vendor-completions"  # where Debian's zsh looks
    mv "$share/zsh/site-functions/_halftone" "$share/zsh/vendor-completions/"
    rmdir "$share/zsh/site-functions"
    [[ $name == halftone ]] || mv "$share/doc/halftone" "$doc"
    gzip -9n "$share/man/man1/halftone.1"
    changelog | gzip -9n > "$doc/changelog.gz"
    # A Debian system has the text of the MIT License in the file copyright.
    rm -f "$doc/LICENSE"
    find "$stage" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$stage/usr/bin/halftone"
}

# The page of changes, as Debian writes it.
changelog() {
    local line date number
    while IFS= read -r line; do
        if [[ $line =~ ^##\ ([0-9.]+)\ \(([0-9-]+)\)$ ]]; then
            [[ ! ${number:-} ]] || signature "$date"
            number=${BASH_REMATCH[1]} date=${BASH_REMATCH[2]}
            printf '%s (%s+%s) stable; urgency=medium\n\n' "$name" "$number" "$(release)"
        elif [[ $line == '- '* ]]; then
            fold -s -w 74 <<< "${line#- }" | sed 's/ *$//; 1s/^/  * /; 2,$s/^/    /'
        fi
    done < resources/handbook/changes.md
    signature "$date"
}

signature() {  # DATE
    printf '\n -- %s  %s\n\n' "$maintainer" "$(date -u -d "$1" -R)"
}

# The libraries' packages with the versions that the program needs. dpkg-shlibdeps reads a source package's folder.
library_packages() {
    mkdir -p "$work/source/debian"
    printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" > "$work/source/debian/control"
    (cd "$work/source" && dpkg-shlibdeps -O -e"$stage/usr/bin/halftone" 2> "$work/shlibdeps") | sed -n 's/^shlibs:Depends=//p'
}

control() {
    local depends
    depends=$(library_packages)
    [[ $depends ]] || fail "no package has the libraries: $(cat "$work/shlibdeps")"
    cat << EOF
Package: $name
Version: $version+$(release)
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$stage/usr" | cut -f 1)
Depends: $depends
EOF
    if [[ $window == ON ]]; then
        cat << 'EOF'
Recommends: qt6-wayland, qt6-translations-l10n, fonts-dejavu-core, fonts-droid-fallback | fonts-noto-cjk | fonts-wqy-microhei
EOF
    else
        cat << 'EOF'
Provides: halftone
Conflicts: halftone
Replaces: halftone
EOF
    fi
    cat << 'EOF'
Suggests: openmpi-bin
Section: science
Priority: optional
Description: trains in mixed precision and shows the loss scale
 Halftone trains the same neural network in FP32 and in 16 bits side by side and
 shows what the difference is: both loss curves, the loss scale as it climbs,
 overflows and halves, each skipped step and the reason why it was skipped.
 .
 It has models for pictures, tables, texts and clicks, and data sets that it
 generates. It needs no account and uses no network.
EOF
    if [[ $window == ON ]]; then
        printf ' .\n This package trains on the processor, in a window or in a terminal.\n'
    else
        cat << 'EOF'
 .
 This package also trains on NVIDIA cards (compute capability 7.5 or newer). It
 has no window. cuBLAS and cuDNN are not in it: the program opens those that
 are installed.
EOF
    fi
}

make_package() {
    mkdir "$stage/DEBIAN"
    control > "$stage/DEBIAN/control"
    (cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$stage/DEBIAN/md5sums"
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    mkdir -p "$out"
    file=$out/${name}_$version+$(release)_$(dpkg --print-architecture).deb
    dpkg-deb --root-owner-group -Zxz -z9 --build "$stage" "$file" > /dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/stage
build_package
stage_files
make_package
check_size "$file" 20
if command -v lintian > /dev/null; then
    lintian --fail-on error "$file" || fail "lintian refuses $file"
else
    echo "lintian is not installed, so it has not looked at the package."
fi
describe_package "$file" "$stage/usr/bin/halftone"
echo "$file: $(megabytes "$file")"
