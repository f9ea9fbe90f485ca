# Completions of halftone for fish. The program itself lists the candidates: `halftone completions fish -- WORD...`.

function __halftone_candidates
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in ($before[1] completions fish -- $before "$current" 2>/dev/null)
        if test "$line" = :files
            set -l parts (string match -r '^(.*=|)(.*)$' -- "$current")
            for file in (__fish_complete_path $parts[3])
                echo -- $parts[2]$file
            end
        else
            echo -- $line
        end
    end
end

complete -c halftone -f -a '(__halftone_candidates)'
