#!/usr/bin/env bash
# list.sh ROOT: which test holds which entry of the catalogue of mixed precision (A: autocast, M: mechanics of it, S: scaler,
# X: what the older libraries did), as Markdown. A test carries the numbers of its entries at the head of its name. Exit
# code 1 if an entry has neither a test nor a note.
set -u
root=${1:?usage: list.sh ROOT}
cd "$root" || exit 2

declare -A tests notes
while IFS='|' read -r number note; do notes[$number]=$note; done < tests/catalogue/notes.txt

while read -r suite name; do
    rest=$name
    while [[ $rest =~ ^([AMSX][0-9]+)(.*)$ ]]; do
        tests[${BASH_REMATCH[1]}]+="\`$suite.$name\` "
        rest=${BASH_REMATCH[2]}
    done
done < <(grep -rhoE --include='*_test.cpp' 'TEST(_P|_F)?\([A-Za-z0-9]+, *[AMSX][0-9]+[A-Za-z0-9_]*' tests |
    sed -E 's/^TEST(_P|_F)?\(([A-Za-z0-9]+), */\2 /' | LC_ALL=C sort -u)

missing=0
echo "# The catalogue of mixed precision, entry by entry"
echo
echo "Written by \`tests/catalogue/list.sh\`; the test \`catalogue\` holds it to the tests there are. Those named \`Cuda...\` run on"
echo "a GPU or the simulated device, the engine's other tests on the processor and, under \`simt.\`, on the simulated device as well."
echo
echo "| entry | tests | note |"
echo "| --- | --- | --- |"
for range in A:25 M:9 S:27 X:16; do
    for ((i = 1; i <= ${range#*:}; ++i)); do
        number=${range%:*}$i
        held=${tests[$number]:-} note=${notes[$number]:-}
        if [[ -z $held && -z $note ]]; then
            echo "$number has no test, and no note says why" >&2
            missing=1
        fi
        echo "| $number | ${held% } | $note |"
    done
done
exit $missing
