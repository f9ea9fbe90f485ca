# Completions of halftone for bash. The program itself lists the candidates: `halftone completions bash -- WORD...`.

_halftone() {
    # Bash parts words at "=" and ":"; the program gets them whole, up to the cursor.
    local words=() word joins=no index
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $index -gt 0 && $word == [=:] ]]; then
            words[${#words[@]} - 1]+=$word
            joins=yes
        elif [[ $joins == yes ]]; then
            words[${#words[@]} - 1]+=$word
            joins=no
        else
            words+=("$word")
        fi
    done
    local whole=${words[${#words[@]} - 1]} current=${COMP_WORDS[COMP_CWORD]}
    # Readline replaces the last part alone.
    local known=${whole%"$current"}
    if [[ $current == [=:] ]]; then
        known=$whole
        current=
    fi
    COMPREPLY=()
    local line
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        if [[ $line == :files ]]; then
            compopt -o filenames 2> /dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
        else
            [[ $line != *[=,] ]] || compopt -o nospace 2> /dev/null
            COMPREPLY+=("${line#"$known"}")
        fi
    done < <("${COMP_WORDS[0]}" completions bash -- "${words[@]}" 2> /dev/null)
}
complete -F _halftone halftone
