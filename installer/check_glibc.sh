#!/usr/bin/env bash
# check_glibc.sh VERSION FILE...: no program or library of FILE asks for a symbol of a newer glibc than VERSION ("2.36"), so that
# all of them start where that is. Lists those that do, with the newest version that each needs. A folder stands for the
# programs and libraries below it.
set -euo pipefail

limit=$1
shift
checked=0 newer=0

# Versions of the symbols that a file refers to; those that it defines itself do not count.
needed_by() {
    LC_ALL=C objdump -p "$1" 2> /dev/null |
        awk '/^Version References:/ {on = 1; next} /^[^ ]/ {on = 0} on' |
        grep -oE '\bGLIBC_[0-9]+(\.[0-9]+)+' | sed 's/^GLIBC_//' | sort -Vu | tail -1
}

while IFS= read -r -d '' file; do
    [[ $(head -c 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
    checked=$((checked + 1))
    version=$(needed_by "$file") || version=''
    if [[ $version && $(printf '%s\n' "$limit" "$version" | sort -V | tail -1) != "$limit" ]]; then
        echo "$file needs glibc $version"
        newer=$((newer + 1))
    fi
done < <(find "$@" -type f -print0)

if ((checked == 0)); then
    echo "check_glibc.sh: no program or library in $*" >&2
    exit 2
fi
echo "$checked programs and libraries, $newer of them for a glibc newer than $limit"
((newer == 0))
