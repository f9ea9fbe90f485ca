#!/usr/bin/env bash
# check.sh ROOT PAGE: checks that CATALOGUE.md is equal to the output of list.sh. Also writes the list with line numbers to
# PAGE; the numbers change with every edit, so this page is not committed.
set -u
root=${1:?usage: check.sh ROOT PAGE}
page=${2:?usage: check.sh ROOT PAGE}
list=$root/tests/catalogue/list.sh
"$list" "$root" lines > "$page" || exit 1
diff <("$list" "$root") "$root/tests/catalogue/CATALOGUE.md" || {
    echo "run: tests/catalogue/list.sh . > tests/catalogue/CATALOGUE.md"
    exit 1
}
