#!/usr/bin/env bash
# release_test.sh ROOT VERSION: deb.sh makes a package of a build, twice the same bits, with control fields, changelog, SPDX list and
# SHA256SUMS; its maintainer is the one given or the commit's author; it refuses builds that may not be passed on or that the package
# would not fit; sign.sh signs, and refuses what has changed. The build is a stand-in: a program of the system, with an installation of
# its own.
set -uo pipefail
root=$(realpath "${1:?usage: release_test.sh ROOT VERSION}")
version=${2:?usage: release_test.sh ROOT VERSION}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in dpkg-deb dpkg-shlibdeps python3; do
    command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 0; }
done
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# stand_in FOLDER UI MPI CUDA LIBRARIES
stand_in() {
    mkdir -p "$1"
    cp /bin/true "$1/halftone"
    printf 'HALFTONE_%s\n' "UI:BOOL=$2" "MPI_USE:INTERNAL=$3" "CUDA:STRING=$4" "LIBRARIES:STRING=$5" > "$1/CMakeCache.txt"
    mkdir -p "$1/share/"{doc/halftone,man/man1,zsh/site-functions}
    echo '.TH HALFTONE 1' > "$1/share/man/man1/halftone.1"
    echo terms > "$1/share/doc/halftone/copyright"
    echo completions > "$1/share/zsh/site-functions/_halftone"
    # shellcheck disable=SC2016  # CMake's variables
    printf '%s\n' 'set(to "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")' "file(COPY \"$1/halftone\" DESTINATION \"\${to}/bin\")" \
        "file(COPY \"$1/share\" DESTINATION \"\${to}\")" > "$1/cmake_install.cmake"
}

mkdir "$work/bin"
printf '#!/bin/sh\nexit 0\n' > "$work/bin/lintian"  # it looks at whole packages
chmod +x "$work/bin/lintian"
export PATH=$work/bin:$PATH

sources=$root
export HALFTONE_MAINTAINER='Some One <some.one@example.org>'

make() {  # BUILD FOLDER
    HALFTONE_BUILD=$1 "$sources/installer/deb.sh" "$2" > "$work/log" 2>&1
}

check_refused() {  # UI MPI CUDA LIBRARIES SENTENCE
    rm -rf "$work/wrong"
    stand_in "$work/wrong" "$1" "$2" "$3" "$4"
    make "$work/wrong" "$work/none" && complain "a package of a build with UI=$1 MPI=$2 CUDA=$3 $4"
    grep -qF -- "$5" "$work/log" || complain "expected '$5': $(cat "$work/log")"
}

stand_in "$work/build" ON opened OFF STATIC
make "$work/build" "$work/first" || { cat "$work/log"; exit 1; }
sleep 1
make "$work/build" "$work/second" || complain "$(cat "$work/log")"
package=$(basename "$work"/first/*.deb)
cmp "$work/first/$package" "$work/second/$package" || complain "two packages of the same build differ"
cmp "$work/first/$package.spdx.json" "$work/second/$package.spdx.json" || complain "two SPDX lists of the same package differ"

field() { dpkg-deb --field "$work/first/$package" "$1"; }
[[ $(field Version) == "$version+"* ]] || complain "version $(field Version)"
[[ $(field Depends) == *libc6* ]] || complain "depends on $(field Depends)"
[[ $(field Maintainer) == "$HALFTONE_MAINTAINER" ]] || complain "maintainer $(field Maintainer)"
[[ $(field Suggests) == openmpi-bin ]] || complain "suggests $(field Suggests)"
dpkg-deb --contents "$work/first/$package" > "$work/contents"
for file in usr/bin/halftone usr/share/man/man1/halftone.1.gz usr/share/zsh/vendor-completions/_halftone \
    usr/share/doc/halftone/changelog.gz usr/share/doc/halftone/copyright; do
    grep -q "root/root .*\./$file$" "$work/contents" || complain "the package has no $file"
done
dpkg-deb --fsys-tarfile "$work/first/$package" | tar -xO ./usr/share/doc/halftone/changelog.gz | gzip -d > "$work/changelog"
[[ $(dpkg-parsechangelog -l "$work/changelog" -S Version) == "$(field Version)" ]] || complain "changelog: $(head -1 "$work/changelog")"
python3 - "$work/first/$package" << 'PY' || complain "the SPDX list is wrong"
import hashlib, json, sys
listed = json.load(open(sys.argv[1] + ".spdx.json"))
ids = {each["SPDXID"] for each in listed["packages"]} | {"SPDXRef-DOCUMENT"}
main = listed["packages"][0]
assert listed["spdxVersion"] == "SPDX-2.3" and len(ids) == len(listed["packages"]) + 1
assert main["checksums"][0]["checksumValue"] == hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()
assert any(each["name"] == "GNU C library" and each["versionInfo"] for each in listed["packages"])
assert all(each["spdxElementId"] in ids and each["relatedSpdxElement"] in ids for each in listed["relationships"])
PY
(cd "$work/first" && sha256sum --quiet --check SHA256SUMS) || complain "SHA256SUMS does not fit"
[[ $(wc -l < "$work/first/SHA256SUMS") == 2 ]] || complain "SHA256SUMS: $(cat "$work/first/SHA256SUMS")"

# Without a maintainer given: that of the commit, and of sources without git nobody's address.
sources=$work/sources
mkdir -p "$sources/resources/handbook"
cp -r "$root/installer" "$root/CMakeLists.txt" "$sources/"
cp "$root/resources/licences.txt" "$sources/resources/"
cp "$root/resources/handbook/changes.md" "$sources/resources/handbook/"
unset HALFTONE_MAINTAINER
make "$work/build" "$work/nobody" && complain 'a package without a maintainer'
grep -qF 'set HALFTONE_MAINTAINER' "$work/log" || complain "expected a word about the maintainer: $(cat "$work/log")"
if command -v git > /dev/null; then
    (cd "$sources" && git init -q && git add . && git -c commit.gpgsign=false -c core.hooksPath=/dev/null -c user.name='The Committer' -c user.email=committer@example.org \
        commit -q --author 'An Author <author@example.org>' -m sources) || complain 'no commit of the sources'
    make "$work/build" "$work/author" || complain "$(cat "$work/log")"
    maintainer=$(dpkg-deb --field "$work"/author/*.deb Maintainer)
    [[ $maintainer == 'An Author <author@example.org>' ]] || complain "a commit's package is maintained by $maintainer"
fi
export HALFTONE_MAINTAINER='no address'
make "$work/build" "$work/nobody" && complain 'a maintainer without an address'
export HALFTONE_MAINTAINER='Some One <some.one@example.org>'
sources=$root

stand_in "$work/cuda" OFF opened REQUIRED STATIC
mv "$work/first" "$work/window"
if HALFTONE_CUDA=1 make "$work/cuda" "$work/first"; then
    package=$(basename "$work"/first/halftone-cuda_*.deb)
    for name in Provides Conflicts Replaces; do [[ $(field $name) == halftone ]] || complain "$name: $(field $name)"; done
    [[ -z $(field Recommends) ]] || complain "a program without a window recommends $(field Recommends)"
else
    complain "no package with CUDA: $(cat "$work/log")"
fi

check_refused ON opened REQUIRED STATIC '-DHALFTONE_CUDA=REQUIRED'
check_refused OFF opened OFF STATIC '-DHALFTONE_UI=OFF'
check_refused ON none OFF STATIC "has MPI 'none'"
check_refused ON linked OFF STATIC "has MPI 'linked'"
check_refused ON opened OFF SHARED 'shared libraries'

if command -v gpg > /dev/null; then
    export GNUPGHOME=$work/keys
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --passphrase '' --quick-generate-key 'Nobody <nobody@example.org>' ed25519 sign never 2> "$work/log" ||
        complain "no key: $(cat "$work/log")"
    "$root/installer/sign.sh" "$work/window" > "$work/log" 2>&1 || complain "not signed: $(cat "$work/log")"
    gpg --batch --verify "$work/window/SHA256SUMS.asc" "$work/window/SHA256SUMS" 2> "$work/log" || complain "$(cat "$work/log")"
    echo >> "$work/window/$(basename "$work"/window/*.deb)"
    "$root/installer/sign.sh" "$work/window" > "$work/log" 2>&1 && complain "signed a package that had changed"
    "$root/installer/sign.sh" "$work/bin" > "$work/log" 2>&1 && complain "signed a folder without packages"
    gpgconf --kill all
else
    echo "skipped: gpg is not installed"
fi
((failures == 0)) && echo "packages, lists and signatures"
exit $((failures > 0))
