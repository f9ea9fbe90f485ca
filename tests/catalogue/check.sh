#!/usr/bin/env bash
# check.sh ROOT: CATALOGUE.md is what list.sh writes.
set -u
root=${1:?usage: check.sh ROOT}
found=$("$root/tests/catalogue/list.sh" "$root") || exit 1
diff <(echo "$found") "$root/tests/catalogue/CATALOGUE.md" || {
    echo "run: tests/catalogue/list.sh . > tests/catalogue/CATALOGUE.md"
    exit 1
}
