#compdef halftone
# Completions of halftone for zsh. The program itself lists the candidates: `halftone completions zsh -- WORD...`.

_halftone() {
    local line value files=no
    local -a values shown open open_shown
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        if [[ $value == :files ]]; then
            files=yes
        elif [[ $value == *[=,] ]]; then
            open+=("$value")
            open_shown+=("${line/$'\t'/  -- }")
        else
            values+=("$value")
            shown+=("${line/$'\t'/  -- }")
        fi
    done < <("${words[1]}" completions zsh -- "${(@Q)words[1,CURRENT]}" 2> /dev/null)
    (( ${#values} )) && compadd -l -d shown -a values
    (( ${#open} )) && compadd -S '' -l -d open_shown -a open
    if [[ $files == yes ]]; then
        compset -P '*='
        _files
    fi
}

if [[ ${funcstack[1]} == _halftone ]]; then
    _halftone "$@"
else
    compdef _halftone halftone
fi
