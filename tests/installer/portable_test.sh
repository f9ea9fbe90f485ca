#!/usr/bin/env bash
# portable_test.sh ROOT VERSION: portable.sh makes an archive of a build, twice the same bits; its start finds libraries and fonts beside
# itself where the machine lacks them; it refuses a build with CUDA. The build is a stand-in whose program prints its environment.
set -uo pipefail
root=$(realpath "${1:?usage: portable_test.sh ROOT VERSION}")
version=${2:?usage: portable_test.sh ROOT VERSION}
for tool in patchelf objdump python3 qtpaths6; do
    command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]] || { echo "skipped: fonts-dejavu-core is not installed"; exit 77; }
[[ -e $(qtpaths6 --query QT_INSTALL_TRANSLATIONS)/qtbase_zh_CN.qm ]] || { echo "skipped: qt6-translations-l10n is not installed"; exit 77; }
glibc=$(getconf GNU_LIBC_VERSION | sed 's/.* //')
[[ $(printf '%s\n' 2.36 "$glibc" | sort -V | tail -1) == 2.36 ]] || { echo "skipped: an archive is made with glibc 2.36"; exit 77; }
[[ -e $(qtpaths6 --query QT_INSTALL_PLUGINS)/platforms/libqwayland-generic.so ]] || { echo "skipped: qt6-wayland is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

stand_in() {  # CUDA
    mkdir -p "$work/build"
    cp /usr/bin/env "$work/build/halftone"
    printf 'HALFTONE_%s\n' UI:BOOL=ON MPI_USE:STRING=opened "CUDA:STRING=$1" LIBRARIES:STRING=STATIC > "$work/build/CMakeCache.txt"
    mkdir -p "$work/build/share/"{applications,icons/hicolor/256x256/apps}
    cp "$root/resources/desktop/halftone.desktop" "$work/build/share/applications/"
    cp "$root/resources/desktop/icons/halftone-256.png" "$work/build/share/icons/hicolor/256x256/apps/halftone.png"
    # shellcheck disable=SC2016  # CMake's variables
    printf '%s\n' 'set(to "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")' "file(COPY \"$work/build/halftone\" DESTINATION \"\${to}/bin\")" \
        "file(COPY \"$work/build/share\" DESTINATION \"\${to}\")" > "$work/build/cmake_install.cmake"
}

# At the level of a release Qt takes a minute to compress.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -T1 -0\n' "$(command -v xz)" > "$work/bin/xz"
chmod +x "$work/bin/xz"

make() {  # FOLDER
    PATH=$work/bin:$PATH HALFTONE_BUILD=$work/build "$root/installer/portable.sh" "$1" > "$work/log" 2>&1
}

stand_in OFF
make "$work/first" || { cat "$work/log"; exit 1; }
make "$work/second" || complain "$(cat "$work/log")"
archive=halftone-$version-$(uname -m).tar.xz
cmp "$work/first/$archive" "$work/second/$archive" || complain "two archives of the same build differ"
grep -q '"name": "DejaVuSans.ttf"' "$work/first/$archive.spdx.json" || complain "the SPDX list has no fonts"

mkdir "$work/a place"
tar -xf "$work/first/$archive" -C "$work/a place"
here="$work/a place/halftone"
for file in README usr/bin/qt.conf usr/lib/libQt6Gui.so.6 usr/lib/spare/libX11.so.6 usr/plugins/platforms/libqxcb.so \
    usr/share/spare-fonts/DejaVuSans.ttf; do
    [[ -s $here/$file ]] || complain "the archive has no $file"
done
env -i PATH="$PATH" "$here/AppRun" > "$work/told" || complain "AppRun ends with $?"
if [[ -e /etc/fonts/fonts.conf ]]; then
    grep FONTCONFIG_FILE "$work/told" && complain "fonts of the archive on a machine that has some"
elif ! grep -qxF "FONTCONFIG_FILE=$here/usr/share/spare-fonts/fonts.conf" "$work/told"; then
    complain "no fonts on a machine that has none: $(cat "$work/told")"
fi
if command -v fc-match > /dev/null; then
    found=$(FONTCONFIG_FILE=$here/usr/share/spare-fonts/fonts.conf XDG_DATA_HOME=$work XDG_CACHE_HOME=$work fc-match -f '%{file}' monospace)
    [[ $found == "$here/"*/DejaVuSansMono.ttf ]] || complain "the archive's font for figures is $found"
fi
grep LD_LIBRARY_PATH "$work/told" && complain "spare libraries on a machine that lacks none"
mv "$here/usr/lib/spare/libz.so.1" "$here/usr/lib/spare/libnowhere.so.1"
patchelf --add-needed libnowhere.so.1 "$here/usr/bin/halftone"
env -i PATH="$PATH" "$here/AppRun" > "$work/told" || complain "AppRun ends with $? where a library is missing"
grep -qxF "LD_LIBRARY_PATH=$here/usr/lib/spare" "$work/told" || complain "no spare libraries: $(cat "$work/told")"

rm -rf "$work/build"
stand_in REQUIRED
make "$work/none" && complain "an archive of a build with CUDA"
grep -qF -- '-DHALFTONE_CUDA=REQUIRED' "$work/log" || complain "expected a word about CUDA: $(cat "$work/log")"
((failures == 0)) && echo "archive, start, fonts and spare libraries"
exit $((failures > 0))
