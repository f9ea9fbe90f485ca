#!/usr/bin/env bash
# check_tables.sh PROGRAM ROOT: the generated pages of resources/handbook, and the record's columns in resources/python,
# are what PROGRAM, handbook_tables, prints.
set -uo pipefail
program=${1:?usage: check_tables.sh PROGRAM ROOT}
root=${2:?usage: check_tables.sh PROGRAM ROOT}
failures=0
for page in settings commands layers events figures columns; do
    file=resources/handbook/$page.md
    [ "$page" = columns ] && file=resources/python/halftone_watch/record_columns.py
    difference=$("$program" "$page" | diff "$root/$file" -) && continue
    echo "$file is not what the program prints:"
    head -20 <<< "$difference"
    echo "Write it anew: $program $page > $file"
    failures=$((failures + 1))
done
exit $((failures > 0))
