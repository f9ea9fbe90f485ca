#!/usr/bin/env bash
# manual_test.sh PROGRAM ROOT: the manual page has every command and every setting, and groff finds nothing to warn of.
set -uo pipefail
program=${1:?usage: manual_test.sh PROGRAM ROOT}
root=${2:?usage: manual_test.sh PROGRAM ROOT}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

"$program" man > "$work/halftone.1" || complain "no manual page"
shown=$(tr -d '\\' < "$work/halftone.1")
for name in $(sed -nE 's/^HALFTONE_COMMAND\(([a-z_]+),.*/\1/p' "$root/app/commands.inc" | tr _ -); do
    grep -qx ".SS $name" <<< "$shown" || complain "the page has no command $name"
done
settings=$(sed -nE 's/^\| `([a-z_.]+)` \|.*/\1/p' "$root/resources/handbook/settings.md")
[[ $settings ]] || complain "found no settings: the search is broken"
for name in $settings; do
    grep -qE "^fB${name//./\\.}fR" <<< "$shown" || complain "the page has no setting $name"
done
if command -v groff > /dev/null; then
    warnings=$(groff -k -man -Tutf8 -ww -z "$work/halftone.1" 2>&1)
    [[ -z $warnings ]] || complain "groff: $(head -5 <<< "$warnings")"
else
    echo "skipped: groff is not installed"
fi
if command -v man > /dev/null; then
    warnings=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$work/halftone.1" 2>&1 > "$work/text")
    [[ -z $warnings ]] || complain "man: $(head -5 <<< "$warnings")"
    [[ ! -s $work/text ]] || grep -q 'halftone train' "$work/text" || complain "the page shows no command"
else
    echo "skipped: man is not installed"
fi
((failures == 0)) && echo "a page of $(wc -l < "$work/halftone.1") lines"
exit $((failures > 0))
