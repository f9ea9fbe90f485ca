#!/usr/bin/env bash
# check_platform.sh ROOT: each source that includes a POSIX header lies in engine/src/io/file or engine/src/base/platform, or is
# named in resources/handbook/port-to-windows.md; and each source that the page names in its tables includes one.
set -uo pipefail
root=${1:?usage: check_platform.sh ROOT}
cd "$root" || exit 2
page=resources/handbook/port-to-windows.md
names='unistd|fcntl|poll|pwd|grp|sched|spawn|dlfcn|termios|dirent|pthread|signal|ucontext|syslog|glob|fnmatch|utime|execinfo|link|mntent'
header="^ *# *include <((sys|net|netinet|arpa|gnu)/[a-z_/-]+|$names)\\.h>"
failures=0
calling=$(grep -rlE "$header" app engine kernels ui --include='*.h' --include='*.cpp' --include='*.cu' --include='*.inc' |
    grep -vE '^engine/src/(io/file|base/platform)/' | sort)
# shellcheck disable=SC2016  # backticks of the page
named=$(sed -n 's/^| \(`[^|]*\) |.*/\1/p' "$page" 2> /dev/null | grep -oE '`[a-z_/]+\.(cpp|h|cu|inc)`' | tr -d '`' | sort)
[[ -n $named ]] || { echo "$page names no source"; exit 1; }
while read -r file; do
    echo "$file includes a POSIX header: call engine/src/base/platform or engine/src/io/file, or say in $page what Windows needs"
    failures=$((failures + 1))
done < <(comm -23 <(echo "$calling") <(echo "$named"))
while read -r file; do
    echo "$page names $file, which includes no POSIX header"
    failures=$((failures + 1))
done < <(comm -13 <(echo "$calling") <(echo "$named"))
((failures == 0)) && echo "$(wc -l <<< "$named") sources outside the two folders, each with what Windows needs"
exit $((failures > 0))
