#!/usr/bin/env bash
# pipes.sh ROOT: no script with pipefail has a command that stops reading before its input ends ("grep -q", "head"): the command
# before it may then die of SIGPIPE, on a busy machine alone, and the whole line counts as failed.
set -uo pipefail
cd "${1:?usage: pipes.sh ROOT}" || exit 2
early='(^|[^|])[|] *(grep +-[a-zA-Z]*q|head( |$))'
[[ 'list | grep -qx name' =~ $early && 'list | head -1' =~ $early && ! 'list || grep -q name' =~ $early ]] || { echo "the search is broken"; exit 1; }
found=$(grep -rlE '^set .*pipefail' app installer tests ui --include='*.sh' | grep -v '/pipes\.sh$' | xargs grep -nE "$early" | grep -vE '^[^:]*:[0-9]+: *#|\| head -n -')
[[ -z $found ]] || { echo "$found"; echo "use grep ... > /dev/null and sed -n 1p: both read to the end"; exit 1; }
echo "no script with pipefail reads a part of a pipe"
