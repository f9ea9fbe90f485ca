#!/usr/bin/env bash
# check_citations.sh ROOT: whatever the code, the tests and the catalogue of tests cite has a heading in resources/handbook,
# and no heading's number stands twice. Documents that comments name lie in the repository. What counts as a citation stands
# in citations.awk.
set -uo pipefail
root=${1:?usage: check_citations.sh ROOT}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root" || exit 2
handbook=resources/handbook
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# "## 1.4 Policies" is 1.4, "## D6 Low-precision ..." D6, "### A1" A1. Translations repeat them.
numbers() {
    find "$handbook" -name '*.md' ! -name '*.zh.md' -print0 | LC_ALL=C sort -z | xargs -0 cat |
        sed -nE 's/^#{2,3} ([1-5]\.[0-9]+|[ADMSX][0-9]+)( .*)?$/\1/p'
}
# "## 3 Events" of interfaces.md is interfaces.md#3.
sections() {
    local page
    for page in "$handbook"/*.md; do sed -nE "s/^## ([1-9]) .*$/$(basename "$page")#\1/p" "$page"; done
}

declare -A known
while read -r number; do
    [[ -n ${known[$number]:-} ]] && complain "$number has two headings in $handbook"
    known[$number]=1
done < <(numbers)
((${#known[@]})) || complain "$handbook has no numbered heading"
while read -r name; do known[$name]=1; done < <(
    sections
    find . -name '*.md' ! -path './build/*' -printf '%f\n'
)

# Tests of these checks plant citations without a heading.
sources() {
    find app engine kernels tests ui resources/handbook resources/python \
        \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' -o -name '*.in' -o -name '*.py' \
        -o -name '*.sh' -o -name '*.awk' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.md' \) \
        ! -path 'tests/handbook/*' ! -path tests/catalogue/list_test.sh \
        ! -path 'tests/peer/*.md' ! -path 'tests/bench/*.md' -print0 2> /dev/null
}
citations() {
    sources | LC_ALL=C sort -z | xargs -0 awk -f "$here/citations.awk"
    # Entries that the catalogue lists, and tests that are named for one.
    sed -nE 's/^\| ([AMSX][0-9]+) \|.*/tests\/catalogue\/CATALOGUE.md:0:\1/p' tests/catalogue/CATALOGUE.md
}
count=0
while IFS=: read -r file line citation; do
    count=$((count + 1))
    [[ -n ${known[$citation]:-} ]] || complain "$file:$line: $citation has no heading in $handbook, and no such page exists"
done < <(citations)
((count)) || complain "found no citation: the search is broken"

((failures == 0)) && echo "$count citations, each with its heading"
exit $((failures > 0))
