#!/usr/bin/env bash
# completions_test.sh PROGRAM ROOT: bash completes commands, options, choices, run numbers, settings, their values and files, as
# it does when a person presses Tab. The scripts of the other shells have no syntax errors, where these shells are installed.
set -uo pipefail
program=$(realpath "${1:?usage: completions_test.sh PROGRAM ROOT}")
root=$(realpath "${2:?usage: completions_test.sh PROGRAM ROOT}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/folder"
ln -s "$program" "$work/bin/halftone"
export PATH=$work/bin:$PATH HOME=$work/home XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config
cd "$work/folder" || exit 2
touch 'a run.halftone'
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# Bash parts a line at blanks and makes words of "=" and ":" (COMP_WORDBREAKS).
press_tab() {  # LINE
    local word parts part
    COMP_WORDS=()
    for word in $1; do
        parts=${word//=/$'\n=\n'}
        parts=${parts//:/$'\n:\n'}
        while IFS= read -r part; do [[ -z $part ]] || COMP_WORDS+=("$part"); done <<< "$parts"
    done
    [[ $1 != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _halftone
}

# check LINE REPLY...: these are among the candidates.
check() {
    local line=$1 reply
    shift
    press_tab "$line"
    for reply in "$@"; do
        printf '%s\n' "${COMPREPLY[@]}" | grep -xF -- "$reply" > /dev/null || complain "$line: no '$reply' among: ${COMPREPLY[*]}"
    done
}

# check_only LINE REPLY...: these are the candidates.
check_only() {
    local line=$1
    shift
    press_tab "$line"
    [[ ${COMPREPLY[*]} == "$*" ]] || complain "$line: '${COMPREPLY[*]}' in place of '$*'"
}

script=$(halftone completions bash) || complain "no script for bash"
eval "$script"
complete -p halftone | grep _halftone > /dev/null || complain "bash has no completions of halftone"

check 'halftone eval ' 'a run.halftone'
[[ ! -e $XDG_DATA_HOME ]] || complain "pressing Tab made a run history"
halftone train --set dataset.kind=spirals --set model.kind=mlp --set max_steps=1 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }

mapfile -t commands < <(sed -nE 's/^HALFTONE_COMMAND\(([a-z_]+),.*/\1/p' "$root/app/commands.inc" | tr _ -)
((${#commands[@]} > 30)) || complain "found no commands: the search is broken"
check 'halftone ' "${commands[@]}" --version
check_only 'halftone find' find-lr
check_only 'halftone train --no' --notify
check_only 'halftone train --json --js'
check_only 'halftone eval 1 --checkpoint ' last best
check_only 'halftone export 1 --to on' onnx
check_only 'halftone completions z' zsh
check 'halftone eval ' 1
check 'halftone show 1 ' 1
check 'halftone import a' 'a run.halftone'
check 'halftone train --set optimizer.' optimizer.lr= optimizer.kind=
check_only 'halftone train --set dataset.kind=spi' spirals
check_only 'halftone train --set=dataset.kind=spi' spirals
check_only 'halftone train --set dataset.augment=' true false
check_only 'halftone sweep --grid optimizer.nesterov=true,f' true,false
check_only 'halftone compare --precision fp32,amp-b' fp32,amp-bf16
check 'halftone train --set dataset.path=a' 'a run.halftone'

for shell in zsh fish; do
    if command -v $shell > /dev/null; then
        halftone completions $shell > "$work/script"
        $shell -n "$work/script" || complain "the script for $shell is refused"
    else
        echo "skipped: $shell is not installed"
    fi
done
halftone completions ksh 2> "$work/log" && complain "completions for ksh"
grep -q 'Use bash, zsh or fish' "$work/log" || complain "an unknown shell: $(cat "$work/log")"
((failures == 0)) && echo "completed"
exit $((failures > 0))
