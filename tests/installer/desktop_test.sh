#!/usr/bin/env bash
# desktop_test.sh BUILD ROOT VERSION WINDOW: `cmake --install` puts where a desktop looks for them: desktop file, AppStream
# metainfo, types of files, icons of each size, copyright; and the manual page and completions for a terminal. The desktop's own tools find nothing wrong with them, where they are
# installed. A build without the window (WINDOW is OFF) installs none of these but its licences and the handbook.
set -uo pipefail
usage='usage: desktop_test.sh BUILD ROOT VERSION ON|OFF'
build=${1:?$usage} root=${2:?$usage} version=${3:?$usage} window=${4:?$usage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

cmake --install "$build" --prefix "$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
share=$work/usr/share

check_there() {  # FILE
    [[ -s $share/$1 ]] || complain "$1 is not installed"
}

# check_tool TOOL ARGUMENT...: a tool that is not installed is named, and skipped.
check_tool() {
    command -v "$1" > /dev/null || { echo "skipped: $1 is not installed"; return; }
    "$@" > "$work/said" 2>&1 || complain "$*: $(cat "$work/said")"
}

for file in copyright NOTICE licences.txt changes.md; do check_there "doc/halftone/$file"; done
first=$(sed -nE 's/^## ([^ ]+) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$/\1/p' "$share/doc/halftone/changes.md" | sed -n 1p)
[[ $first == "$version" ]] || complain "changes.md begins with version '$first', the project is at $version"

for file in man/man1/halftone.1 bash-completion/completions/halftone zsh/site-functions/_halftone fish/vendor_completions.d/halftone.fish; do
    check_there "$file"
done

if [[ $window == OFF ]]; then
    check_there doc/halftone/handbook/README.md
    [[ ! -e $share/applications ]] || complain "a program without a window has a desktop file"
    exit $((failures > 0))
fi

metainfo=metainfo/org.halftone.halftone.metainfo.xml
for file in applications/halftone.desktop $metainfo mime/packages/halftone.xml icons/hicolor/scalable/apps/halftone.svg icons/hicolor/scalable/mimetypes/halftone-network.svg; do
    check_there "$file"
done
check_tool desktop-file-validate "$share/applications/halftone.desktop"
check_tool appstreamcli validate --no-net "$share/$metainfo"
check_tool xmllint --noout "$share/mime/packages/halftone.xml" "$share/$metainfo"
grep -q "<release version=\"$version\"" "$share/$metainfo" || complain "the metainfo lacks the release $version"

# The desktop file opens the types that the other file declares, and the metainfo names them.
declared=$(sed -nE 's/.*<mime-type type="([^"]+)".*/\1/p' "$share/mime/packages/halftone.xml" | sort)
opened=$(sed -n 's/^MimeType=//p' "$share/applications/halftone.desktop" | tr ';' '\n' | grep . | sort)
named=$(sed -nE 's|.*<mediatype>(.*)</mediatype>.*|\1|p' "$share/$metainfo" | sort)
[[ $declared && $declared == "$opened" && $declared == "$named" ]] ||
    complain "types of files: declared $declared; opened $opened; named $named"
if command -v update-mime-database > /dev/null; then
    update-mime-database "$share/mime" > /dev/null 2>&1
    for pattern in '*.halftone' '*.lesson.md' '*.network'; do
        grep -qF ":$pattern" "$share/mime/globs2" || complain "no type of file for $pattern"
    done
fi

# Width and height stand in a PNG's bytes 16 to 23.
for size in 16 22 24 32 48 64 128 256 512; do
    file=icons/hicolor/${size}x$size/apps/halftone.png
    check_there "$file"
    found=$(od -An -j16 -N8 -t u1 "$share/$file" | awk '{print $3 * 256 + $4 "x" $7 * 256 + $8}')
    [[ $found == "${size}x$size" ]] || complain "$file is $found"
done

# The window announces the desktop file's name.
name=$(sed -nE 's/.*setDesktopFileName\(u"([^"]+)".*/\1/p' "$root/ui/src/run_window.cpp")
[[ -e $share/applications/$name.desktop ]] || complain "the window names the desktop file '$name'"
((failures == 0)) && echo "installed as a desktop expects it"
exit $((failures > 0))
