# shellcheck shell=bash
# One line during a build: percent, minutes gone, minutes left, and the part that is being compiled. Sourced by packages.sh.
#
# Ninja prints one line for each finished command. NINJA_STATUS marks these lines, and show_progress replaces them by its
# own line. All other output, such as warnings and errors, passes through unchanged.

# shellcheck disable=SC2034  # packages.sh passes it to Ninja
progress_status='@@%f %t@@ '

# EXTENDED REGULAR EXPRESSION of an output, the part of the program, and milliseconds to compile one object of it on a
# 2-core machine. The first match counts. Only the ratios matter: both the last build and the current one correct them.
progress_parts() {
    cat <<'END'
[.]cu[.]o$	the CUDA kernels	2100
^kernels/.*/cuda/	the CUDA kernels	2250
^kernels/	the kernels	2250
^engine/	the engine	1600
^ui/	the window	1800
^(app/|halftone$)	the program	2800
^tests/simt/	the simulated device	1300
^tests/bench/	the benchmarks	1700
^tests/ui/	the tests	2500
^tests/	the tests	1700
END
}

# plan_build FOLDER TARGET: what Ninja has yet to do. One line each: milliseconds, part and Ninja's description, separated
# by tabs. An output that FOLDER/.ninja_log holds takes as long as last time; the others take the time of their part,
# times the ratio of the logged times to those of progress_parts.
plan_build() {
    local folder log
    folder=$(realpath "$1")
    log=$folder/.ninja_log
    [[ -e $log ]] || log=/dev/null
    # By its absolute path, build.ninja is no output of the build. Otherwise a dry run ends at "Re-running CMake".
    NINJA_STATUS='' ninja -C "$folder" -n -f "$folder/build.ninja" "$2" 2>/dev/null |
        awk -F '\t' -v folder="$folder" -v architectures="$(count_architectures "$folder/build.ninja")" '
            # A file of a unity build includes several sources. Together they compile in about half of the time.
            function sources(output,    file, line, count) {
                if (output !~ /\/Unity\/unity_[^\/]*[.]o$/) return 1
                file = folder "/" output
                sub(/[.]o$/, "", file)
                while ((getline line < file) > 0) count += line ~ /^#include /
                close(file)
                return 0.5 + count / 2
            }
            function find_part(output,    i) {
                for (i = 1; i <= parts; i++) if (output ~ pattern[i]) return i
                return 0
            }
            function usual(output,    i) {
                if (output !~ /[.](o|gch)$/) return 400
                i = find_part(output)
                if (!i) return 1700
                return cost[i] * (output ~ /[.]cu[.]o$/ ? architectures : 1) * sources(output)
            }
            input == "parts" { pattern[++parts] = $1; name[parts] = $2; cost[parts] = $3; next }
            # An object within 0.2 s came from a compiler cache, which may not have it the next time.
            input == "log" { if ($2 - $1 >= ($4 ~ /[.]o$/ ? 200 : 1)) logged[$4] = $2 - $1; next }
            input == "plan" && !ratio {
                for (output in logged) { took += logged[output]; would += usual(output) }
                ratio = would > 0 ? took / would : 1
            }
            /^ninja: / { next }
            {
                output = $0
                sub(/.* /, "", output)
                time = output in logged ? logged[output] : usual(output) * ratio
                i = find_part(output)
                printf "%d\t%s\t%s\n", time + 1, i ? name[i] : "-", $0
            }' input=parts <(progress_parts) input=log "$log" input=plan -
}

# The number of architectures that build.ninja compiles CUDA sources for, at least 1.
count_architectures() {
    local count
    count=$(grep -m1 -o 'generate-code=.*' "$1" 2>/dev/null | grep -o 'arch=' | wc -l)
    echo $((count > 0 ? count : 1))
}

on_terminal() {
    [[ -t 1 && ${TERM:-dumb} != dumb ]]
}

# show_progress PLAN JOBS: reads the output of the build. On a terminal one line is renewed at its bottom; elsewhere a line
# is printed at the start, then for each 5 % (but not within 10 seconds) and every 30 seconds. After a failed build it
# ends with a sentence if the disk or the memory was full.
show_progress() {
    # Ctrl-C reaches Ninja too, whose last words are to be shown.
    trap '' INT
    local -A costs=() parts=()
    local total=0 finished=0 planned started=$SECONDS jobs=$2 terminal=no width=80
    local base_gone=0 base_finished=0 mark_gone=0 mark_finished=0  # what was finished at two earlier times
    local part='-' shown='' shown_at=-1 shown_percent=0 percent=0 fault='' failed=no
    local cost name description line piece status
    while IFS=$'\t' read -r cost name description; do
        [[ $description ]] || continue
        costs[$description]=$cost
        parts[$description]=$name
        total=$((total + cost))
    done <<<"$1"
    planned=$total
    if on_terminal; then
        terminal=yes
        width=$(stty size <&1 2>/dev/null | cut -d ' ' -f 2)
        ((${width:-0} > 0)) || width=80
    fi
    ((total == 0)) || progress_draw
    line=''
    while true; do
        if IFS= read -r -t 1 piece; then
            progress_take "$line$piece"
            line=''
        else
            status=$?
            line+=$piece  # the beginning of a line, if the time was up in the middle of it
            ((status > 128)) || break
        fi
        ((total == 0)) || progress_draw
    done
    [[ -z $line ]] || progress_take "$line"
    progress_clear
    [[ $failed == no ]] || explain_fault "$fault" "$jobs"
}

# The functions below belong to show_progress and use its variables.

progress_clear() {
    [[ -z $shown || $terminal == no ]] || printf '\r\e[K'
    shown=''
}

progress_take() {  # LINE
    local mark='^@@([0-9]+) ([0-9]+)@@ (.*)$'
    if [[ $1 =~ $mark ]]; then
        description=${BASH_REMATCH[3]}
        cost=${costs[$description]:-0}
        finished=$((finished + cost))
        costs[$description]=0
        if ((planned == 0)); then  # plan_build failed: count the commands
            finished=$((1500 * BASH_REMATCH[1]))
            total=$((1500 * BASH_REMATCH[2]))
        fi
        ((cost == 0)) || part=${parts[$description]}
        return
    fi
    case $1 in
        'ninja: no work to do.' | "ninja: Entering directory"*) return ;;
        'FAILED: '* | 'ninja: '*) failed=yes ;;&
        *'No space left on device'* | *'Disk quota exceeded'*) fault=${fault:-room} ;;
        *'Killed signal terminated program'* | *'died due to signal 9'* | *'terminated with signal 9'* | \
            *'annot allocate memory'* | *'out of memory allocating'*) fault=${fault:-memory} ;;
    esac
    progress_clear
    printf '%s\n' "$1"
}

progress_draw() {
    local gone=$((SECONDS - started)) rate left line
    percent=$((100 * finished / total))
    ((percent < 100)) || percent=99
    # A core compiles one second's worth in a second until the build shows its own speed. The last minutes count most,
    # because a compiler cache may have made the beginning fast.
    if ((gone - mark_gone >= 90)); then
        base_gone=$mark_gone base_finished=$mark_finished
        mark_gone=$gone mark_finished=$finished
    fi
    rate=$(((finished + jobs * 20000) / (gone + 20)))
    rate=$(((finished - base_finished + 30 * rate) / (gone - base_gone + 30)))
    ((rate > 0)) || rate=1
    left=$(((total - finished) / rate))
    line="Building"
    [[ $part == - ]] || line+=" $part"
    line+=": $percent %, $((gone / 60)) min gone, "
    if ((left < 60)); then
        line+="less than a minute left"
    else
        line+="about $(((left + 59) / 60)) min left"
    fi
    if [[ $terminal == yes ]]; then
        [[ $line == "$shown" ]] || printf '\r\e[K%s' "${line:0:width-1}"
        shown=$line
    elif ((shown_at < 0 || gone - shown_at >= 30 || (percent - shown_percent >= 5 && gone - shown_at >= 10))); then
        printf '%s\n' "$line"
        shown_at=$gone
        shown_percent=$percent
    fi
}

# explain_fault room|memory|"" JOBS
explain_fault() {
    local again=${same_command:-the same command} fewer=$(($2 / 2))
    case $1 in
        room) echo "The disk is full. Free some space; then $again continues." ;;
        memory)
            if ((fewer > 0)); then
                echo "Memory ran out and a compiler was killed. HALFTONE_JOBS=$fewer $again continues with fewer compilers at a time."
            else
                echo "Memory ran out and a compiler was killed. Close other programs or add swap; then $again continues."
            fi
            ;;
    esac
}
