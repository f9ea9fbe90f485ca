#!/usr/bin/env bash
# check_citations.sh ROOT: whatever the code, the tests and the catalogue of tests cite has a heading in resources/handbook,
# and no heading's number stands twice. A rule or a decision is cited with its page and the first words of its heading:
# "loss-scaler.md#update (2.7)". Documents that comments name lie in the repository. What counts as a citation stands in
# citations.awk.
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

# "## 1.5 The weight cache" of autocast.md is "1.5 autocast.md#weight-cache".
headings() {
    local page
    for page in "$handbook"/*.md; do
        [[ $page == *.zh.md ]] && continue
        sed -nE 's/^#{2,3} ([1-5]\.[0-9]+|D[0-9]+) (.*)$/\1 \2/p' "$page" |
            awk -v page="$(basename "$page")" '{
                number = $1
                sub(/^[^ ]+ ((The|A|An) )?/, "")
                $0 = tolower($0)
                gsub(/[^a-z0-9_ -]/, "")
                gsub(/ /, "-")
                print number, page "#" $0
            }'
    done
}
declare -A heading_of
while read -r number heading; do heading_of[$number]=$heading; done < <(headings)

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
    case $citation in
        '!'*)
            citation=${citation#?}
            complain "$file:$line: say where $citation leads: ${heading_of[$citation]:-PAGE.md#heading} ($citation)"
            continue ;;
        *=*)
            heading=${heading_of[${citation#*=}]:-none}
            [[ $heading == "${citation%=*}"* ]] || complain "$file:$line: ${citation%=*} does not begin the heading of ${citation#*=}, $heading"
            continue ;;
    esac
    [[ -n ${known[$citation]:-} ]] || complain "$file:$line: $citation has no heading in $handbook, and no such page exists"
done < <(citations)
((count)) || complain "found no citation: the search is broken"

((failures == 0)) && echo "$count citations, each with its heading"
exit $((failures > 0))
