#!/usr/bin/env bash
# check_run_paths.sh BUILD: the programs and shared libraries below BUILD, and those that `cmake --install` makes of it,
# look for libraries in absolute folders and $ORIGIN only. The loader takes an empty or relative element of a run path as the
# current folder, and would run code that somebody put there.
set -uo pipefail
build=${1:?usage: check_run_paths.sh BUILD}
installed=$(mktemp -d)
trap 'rm -rf "$installed"' EXIT
cmake --install "$build" --prefix "$installed" > "$installed/log" 2>&1 || { cat "$installed/log"; exit 1; }

looked=0 refused=0
while IFS= read -r -d '' file; do
    [[ $(head -c 4 "$file" | tail -c 3) == ELF ]] || continue
    looked=$((looked + 1))
    # A colon is appended, because read drops one empty element at the end.
    while IFS= read -r path; do
        IFS=: read -ra elements <<< "$path:"
        for element in "${elements[@]}"; do
            [[ $element == /* || $element == '$ORIGIN' || $element == '$ORIGIN'/* ]] && continue
            echo "$file: run path [$path] has the element '$element'"
            refused=$((refused + 1))
        done
    done < <(readelf -d "$file" 2> /dev/null | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]$/\2/p')
done < <(find "$build" "$installed" -type f \( -perm -u+x -o -name '*.so*' \) -size +4k -print0)
echo "$looked programs and libraries looked at, $refused elements refused"
((looked > 1 && refused == 0))
