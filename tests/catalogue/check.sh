#!/usr/bin/env bash
# check.sh ROOT PAGE: CATALOGUE.md is what list.sh writes. Writes its page with line numbers, which move with every edit, to
# PAGE.
set -u
root=${1:?usage: check.sh ROOT PAGE}
page=${2:?usage: check.sh ROOT PAGE}
list=$root/tests/catalogue/list.sh
"$list" "$root" lines > "$page" || exit 1
diff <("$list" "$root") "$root/tests/catalogue/CATALOGUE.md" || {
    echo "run: tests/catalogue/list.sh . > tests/catalogue/CATALOGUE.md"
    exit 1
}
