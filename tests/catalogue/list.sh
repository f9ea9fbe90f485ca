#!/usr/bin/env bash
# list.sh ROOT [lines]: which test holds which entry of the catalogue of mixed precision (A: autocast, M: mechanics of it,
# S: scaler, X: what the older libraries did), as Markdown, and what the entry requires, a sentence of the handbook. A test
# carries the numbers of its entries at the head of its name, and beside it stands the file, with `lines` also the line,
# where it asserts. Exit code 1 if an entry has neither a test nor a note, or no sentence, if a test of one asserts nothing,
# or if a test or a note names an entry that does not exist.
set -u
root=${1:?usage: list.sh ROOT [lines]}
with_lines=${2:-}
cd "$root" || exit 2

declare -A last=([A]=25 [M]=9 [S]=27 [X]=16)  # entries of each letter, from 1
declare -A tests notes required
while IFS='|' read -r number note; do notes[$number]=$note; done < tests/catalogue/notes.txt
while IFS='|' read -r number sentence; do required[$number]=$sentence; done < <(
    # The paragraph below each heading "### A1", as one line.
    awk '/^#/ { number = /^### [AMSX][0-9]+$/ ? $2 : ""; next }
         number && NF { text[number] = text[number] (text[number] ? " " : "") $0 }
         END { for (number in text) print number "|" text[number] }' resources/handbook/catalogue.md
)

wrong=0
place() {  # FILE LINE
    echo "$1${with_lines:+:$2}"
}
assertions() {
    find tests \( -name '*.cpp' -o -name '*.h' \) -print0 | LC_ALL=C sort -z | xargs -0 awk -f tests/catalogue/assertions.awk
}
while read -r suite name file line helper helper_file helper_line; do
    if ((line == 0)); then
        echo "$file: $suite.$name asserts nothing, neither itself nor through a function of its file or its headers" >&2
        wrong=1
    fi
    held="\`$suite.$name\` $(place "$file" "$line")"
    [[ $helper != - ]] && held+=", \`$helper\` $(place "$helper_file" "$helper_line")"
    rest=$name
    while [[ $rest =~ ^([AMSX][0-9]+)(.*)$ ]]; do
        tests[${BASH_REMATCH[1]}]+="${tests[${BASH_REMATCH[1]}]:+<br>}$held"
        rest=${BASH_REMATCH[2]}
    done
done < <(assertions | LC_ALL=C sort -u)

echo "# The catalogue of mixed precision, entry by entry"
echo
echo "Written by \`tests/catalogue/list.sh\`; the test \`catalogue\` checks it against the tests. Those named \`Cuda...\` run on a GPU"
echo "or the simulated device; most of the engine's other tests run on the CPU and, under \`simt.\`, on the simulated device. Beside"
echo "each test stands the file of its first assertion and, where a helper function makes it, the helper and its file. The test"
echo "\`catalogue\` also writes this page with line numbers into the build folder. What an entry requires is the sentence of"
echo "[the handbook](../../resources/handbook/catalogue.md)."
echo
echo "| entry | requires | tests | note |"
echo "| --- | --- | --- | --- |"
for letter in A M S X; do
    for ((i = 1; i <= last[$letter]; ++i)); do
        number=$letter$i
        held=${tests[$number]:-} note=${notes[$number]:-}
        if [[ -z $held && -z $note ]]; then
            echo "$number has no test, and no note says why" >&2
            wrong=1
        fi
        if [[ -z ${required[$number]:-} ]]; then
            echo "$number: resources/handbook/catalogue.md does not say what it requires" >&2
            wrong=1
        fi
        echo "| $number | ${required[$number]:-} | $held | $note |"
    done
done

exists() { [[ $1 =~ ^([AMSX])([1-9][0-9]*)$ ]] && ((BASH_REMATCH[2] <= ${last[${BASH_REMATCH[1]}]})); }
for number in "${!tests[@]}"; do
    exists "$number" && continue
    echo "$number is no entry, but tests are named for it: ${tests[$number]}" >&2
    wrong=1
done
for number in "${!notes[@]}"; do
    exists "$number" && continue
    echo "$number is no entry, but tests/catalogue/notes.txt has a note on it" >&2
    wrong=1
done
exit $wrong
