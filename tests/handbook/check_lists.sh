#!/usr/bin/env bash
# check_lists.sh ROOT: lists that are kept by hand agree with the source:
#
# - the table of resources/handbook/command-line.md has the commands of app/commands.inc, and no others;
# - the map of engine/README.md has the rooms of engine/src, and one with three or more files a README.md of at most 40 lines;
# - tests/peer/RESULTS.md has every operation of engine/OPERATIONS.md with its policy, and none beyond its bound;
# - tests/gpu/UNVERIFIED.md names files that exist and parts of run.sh;
# - in every document each row of a table has as many cells as the table's head;
# - pages of the handbook write powers as the window does, 2⁻²⁴, but for code.
#
# A document that the tree lacks is not checked.
set -uo pipefail
root=${1:?usage: check_lists.sh ROOT}
cd "$root" || exit 2
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# compare FILE WHAT EXPECTED FOUND: both lists, a name a line, have the same names.
compare() {
    local name
    while read -r name; do
        complain "$1: $2 $name is missing"
    done < <(comm -23 <(sort -u <<< "$3") <(sort -u <<< "$4") | grep .)
    while read -r name; do
        complain "$1: there is no $2 $name"
    done < <(comm -13 <(sort -u <<< "$3") <(sort -u <<< "$4") | grep .)
}

check_commands() {
    local expected found page=resources/handbook/command-line.md
    expected=$(sed -nE 's/^HALFTONE_COMMAND\(([a-z_]+),.*/\1/p' app/commands.inc | tr _ -)
    # "`halftone NAME ...`" begins a row; further names of a row stand in quotes of their own.
    found=$(awk -F' \\| ' '/^\| `halftone / { print $1 }' "$page" |
        grep -oE '`(halftone )?[a-z][a-z-]*( [^`]*)?`' | sed -E 's/`(halftone )?//; s/[ `].*//')
    compare "$page" command "$expected" "$found"
}

check_map() {
    local expected found
    expected=$(cd engine/src && for folder in */; do echo "${folder%/}"; done)
    found=$(awk -F'|' '/^\| room/ { map = 1; next } !/^\|/ { map = 0 } map && !/---/ { print $2 }' engine/README.md |
        grep -oE '`[a-z_]+`' | tr -d '`')
    compare engine/README.md folder "$expected" "$found"
}

check_rooms() {
    local room page
    for room in engine/src/*/; do
        page=${room}README.md
        if [[ -e $page ]]; then
            (($(wc -l < "$page") <= 40)) || complain "$page: has more than 40 lines"
        elif (($(find "$room" \( -name '*.h' -o -name '*.cpp' \) | wc -l) >= 3)); then
            complain "$page is missing: it says what is inside, where to start and what may not be included"
        fi
    done
}

check_operations() {
    local problem
    while read -r problem; do complain "tests/peer/RESULTS.md: $problem"; done < <(awk -F'|' '
        BEGIN {
            words["none"] = "as outside"; words["f32"] = "casts to f32"; words["low"] = "casts to the region'\''s 16 bits"
            words["promote"] = "casts to the widest input"; words["banned"] = "refused"
            words["f32_dtype"] = words["f32_append"] = "computes and writes f32"
        }
        function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
        FILENAME == "engine/OPERATIONS.md" && /^\| `/ {
            name = $2; gsub(/[` ]|\(.*/, "", name)
            policy[name] = policy[name] "," trimmed($3) ","
        }
        FILENAME != "engine/OPERATIONS.md" && /^\|/ {
            if (trimmed($2) == "op") { table = trimmed($4) == "worst share of bound"; next }
            if (!table || $2 ~ /---/) next
            name = trimmed($2); seen[name] = 1
            if (!(name in policy)) { print "there is no operation " name; next }
            if (index(policy[name], "," words[trimmed($3)] ",") == 0) print name " has another policy than " trimmed($3)
            if (trimmed($4) + 0 > 1) print name " is beyond its bound"
        }
        FILENAME != "engine/OPERATIONS.md" && !/^\|/ { table = 0 }
        END { for (name in policy) if (!(name in seen)) print "operation " name " is missing" }
    ' engine/OPERATIONS.md tests/peer/RESULTS.md)
}

# "{a,b}" stands for several names.
spread() {
    local name
    while read -r name; do
        if [[ $name =~ ^(.*)\{(.*)\}(.*)$ ]]; then
            printf '%s\n' "${BASH_REMATCH[2]}" | tr ',' '\n' | sed "s|^|${BASH_REMATCH[1]}|; s|\$|${BASH_REMATCH[3]}|"
        else
            printf '%s\n' "$name"
        fi
    done
}

check_unverified() {
    local page=tests/gpu/UNVERIFIED.md name part known
    known=" first second $(sed -nE 's/^part_([a-z0-9_-]+)\(\).*/\1/p' tests/gpu/run.sh | tr '\n' ' ') "
    while read -r name; do
        [[ -e $name || -n $(find kernels engine app installer tests -name "${name##*/}" -print -quit) ]] ||
            complain "$page names $name, which is not there"
    done < <(grep -oE '`[A-Za-z0-9_./{},-]+\.(cu|cuh|cpp|h|sh|py)`' "$page" | tr -d '`' | spread | sort -u)
    while read -r part; do
        [[ $known == *" $part "* ]] || complain "$page: run.sh has no part $part"
    done < <(grep -oE '`run\.sh [a-z -]+`' "$page" | tr -d '`' | cut -d' ' -f2- | tr ' ' '\n' | sort -u | grep .)
}

check_tables() {
    local problem
    while read -r problem; do complain "$problem"; done < <(find . -name '*.md' ! -path './build*' ! -path './.git/*' -print0 | sort -z | xargs -0 awk '
        function cells(row) {
            gsub(/\\\|/, "", row)
            gsub(/^\| ?| ?\| *$/, "", row)
            return gsub(/\|/, "", row) + 1
        }
        FNR == 1 || !/^\|/ { head = 0 }
        FNR == 1 { code = 0 }
        /^ *```/ { code = !code }
        code || !/^\|/ { next }
        head == 0 { head = cells($0); next }
        cells($0) != head { print FILENAME ":" FNR ": a row of " cells($0) " cells in a table of " head }
    ')
}

check_powers() {
    local problem
    while read -r problem; do complain "$problem"; done < <(find resources/handbook -name '*.md' -print0 | sort -z | xargs -0 -r awk '
        FNR == 1 { code = 0 }
        /^ *```/ { code = !code }
        code { next }
        { gsub(/`[^`]*`/, "") }
        match($0, /(^|[^A-Za-z0-9_])(2|10)\^-?[0-9]+/) { print FILENAME ":" FNR ": " substr($0, RSTART, RLENGTH) ": write the exponent raised, as in 2⁻²⁴" }
    ')
}

[[ -e app/commands.inc && -e resources/handbook/command-line.md ]] && check_commands
[[ -e engine/README.md && -d engine/src ]] && check_map && check_rooms
[[ -e tests/peer/RESULTS.md ]] && check_operations
[[ -e tests/gpu/UNVERIFIED.md ]] && check_unverified
check_tables
[[ -d resources/handbook ]] && check_powers
((failures == 0)) && echo "the lists agree with the source"
exit $((failures > 0))
