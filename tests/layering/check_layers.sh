#!/usr/bin/env bash
# check_layers.sh ROOT: every #include obeys the layers kernels <- engine <- ui <- app. Prints each line that does
# not as FILE:LINE: TEXT: RULE; exit code 1 if there is one.
#
# Include paths stop most of it. This test checks the rest: "../", system headers, public headers that include private
# ones, and which folders of engine/src and ui/src may include which, public headers of the engine too (*_edges.txt).
set -u
root=${1:?usage: check_layers.sh ROOT}
cd "$root" || exit 2
failures=0

refuse() {  # FILE:LINE TEXT RULE
    echo "$1: $2: $3"
    failures=$((failures + 1))
}

is_qt() { [[ $1 =~ ^Q[A-Za-z]|^qcustomplot ]]; }
# cuda_absent/ belongs to us: it replaces kernels/cuda in builds without CUDA.
is_cuda() { [[ $1 =~ ^(cuda|cublas|cudnn|nccl|nvrtc|nvtx|cub/|thrust/) && $1 != cuda_absent/* ]]; }
is_compute_library() { [[ $1 =~ ^(hwy/|oneapi/|dnnl|cblas|openblas|omp\.h) ]]; }
# A header that exists only among another layer's private files.
is_engine_internal() { [[ -e engine/src/$1 && ! -e ui/src/$1 && ! -e app/$1 ]]; }

check_kernels() {  # WHERE FILE HEADER
    [[ $3 =~ ^(engine|ui|app)/ ]] && refuse "$1" "$3" "kernels know no layer above them"
    is_qt "$3" && refuse "$1" "$3" "kernels must not include Qt"
    if is_cuda "$3" && [[ $2 != kernels/cuda/* ]]; then
        refuse "$1" "$3" "CUDA headers belong in kernels/cuda"
    fi
    if [[ $2 == kernels/include/* ]] && is_compute_library "$3"; then
        refuse "$1" "$3" "a public kernel header must not show what computes"
    fi
}

check_engine() {
    [[ $3 =~ ^(ui|app)/ ]] && refuse "$1" "$3" "the engine may include only kernels"
    is_qt "$3" && refuse "$1" "$3" "the engine must not include Qt"
    is_cuda "$3" && refuse "$1" "$3" "the engine must not include CUDA headers"
    is_compute_library "$3" && refuse "$1" "$3" "compute libraries belong to kernels"
    if [[ $2 == engine/include/* ]]; then
        [[ $3 == kernels/* ]] && refuse "$1" "$3" "a public engine header must not show kernels"
        is_engine_internal "$3" && refuse "$1" "$3" "a public engine header must not lean on engine/src"
    fi
}

check_above_engine() {  # of ui and app alike
    [[ $3 == kernels/* ]] && refuse "$1" "$3" "only the engine may include kernels"
    is_engine_internal "$3" && refuse "$1" "$3" "only the engine's public headers (engine/...) may be included"
    is_cuda "$3" && refuse "$1" "$3" "CUDA headers belong in kernels/cuda"
    is_compute_library "$3" && refuse "$1" "$3" "compute libraries belong to kernels"
}

check_ui() {
    check_above_engine "$@"
    [[ $3 == app/* ]] && refuse "$1" "$3" "the ui must not include app"
}

check_include() {
    [[ $3 == *../* ]] && refuse "$1" "$3" "includes go through include paths, never through \"../\""
    case $2 in
        kernels/*) check_kernels "$@" ;;
        engine/*) check_engine "$@" ;;
        ui/*) check_ui "$@" ;;
        app/*) check_above_engine "$@" ;;
    esac
    check_edge "$@"
    if [[ $2 != tests/* && $3 =~ ^(gtest|gmock|benchmark)/ ]]; then
        refuse "$1" "$3" "test libraries belong to tests"
    fi
}

# The folders of one layer, at two levels. LAYER_edges.txt beside this script has three kinds of lines:
#
#   ROOM: ROOM...            the rooms, folders of LAYER/src, that it may include; a public header engine/ROOM/x.h counts as
#                            ROOM
#   ROOM/SUB: SUB...         the sub-rooms of the same room, "." for the room's own files, that it may include. Of a room
#                            without such a line the sub-rooms are not told apart.
#   A/SUB... > B > A/SUB...  the one allowed circle of two rooms: the sub-rooms on the left may include B, though B stands
#                            below A, and B may include of A those on the right alone
#
# Rooms and sub-rooms may include only what is listed above them, so that there is no circle but those pairs.
declare -A place allowed used sub_allowed sub_used has_subs left_of right_of left_used right_used pair_room
places=0
read_edges() {  # LAYER FILE
    local line
    while IFS= read -r line; do
        if [[ $line =~ ^([a-z_]+):(.*)$ ]]; then
            read_room "$1" "$2" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        elif [[ $line =~ ^([a-z_]+)/([a-z_]+|\.):(.*)$ ]]; then
            read_sub_room "$1" "$2" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
        elif [[ $line =~ ^([a-z_/ ]+)\ \>\ ([a-z_]+)\ \>\ ([a-z_/ ]+)$ ]]; then
            read_pair "$1" "$2" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
        elif [[ -n $line && $line != \#* ]]; then
            refuse "$2" "$line" "a line of no known form"
        fi
    done < "$2"
}

read_room() {  # LAYER FILE ROOM ROOMS
    local edge
    # A second line could allow a cycle.
    [[ -z ${place[$1/$3]:-} ]] || refuse "$2" "$3" "listed twice"
    [[ $3 == root || -d $1/src/$3 ]] || refuse "$2" "$3" "no such folder"
    for edge in $4; do
        [[ -n ${place[$1/$edge]:-} ]] || refuse "$2" "$3: $edge" "a folder may lean only on folders listed above it"
        allowed[$1/$3/$edge]=1
    done
    place[$1/$3]=$((++places))
}

read_sub_room() {  # LAYER FILE ROOM SUB SUBS
    local edge
    [[ -z ${place[$1/$3/$4]:-} ]] || refuse "$2" "$3/$4" "listed twice"
    [[ -d $1/src/$3/$4 ]] || refuse "$2" "$3/$4" "no such folder"
    for edge in $5; do
        [[ -n ${place[$1/$3/$edge]:-} ]] || refuse "$2" "$3/$4: $edge" "a folder may lean only on folders listed above it"
        sub_allowed[$1/$3/$4/$edge]=1
    done
    place[$1/$3/$4]=$((++places))
    has_subs[$1/$3]=1
}

read_pair() {  # LAYER FILE LEFT ROOM RIGHT
    local left right between
    pair_room[$1/$4]=1
    for left in $3; do
        left_of[$1/$left/$4]=1
        for right in $5; do
            ((${place[$1/$right]:-0} > 0 && ${place[$1/$right]:-0} < ${place[$1/$left]:-0})) ||
                refuse "$2" "$left > $4 > $right" "the right side of a pair stands above its left side"
        done
    done
    for right in $5; do
        right_of[$1/$4/$right]=1
        [[ -n ${allowed[$1/$4/${right%/*}]:-} ]] || refuse "$2" "$left > $4 > $right" "$4 may not include ${right%/*}"
        for between in "${!place[@]}"; do
            [[ -z ${allowed[$1/$4/${between#"$1"/}]:-} ]] || ((${place[$between]} <= ${place[$1/${right%/*}]})) ||
                refuse "$2" "$left > $4 > $right" "$4 includes ${between#"$1"/}, which may lean on ${right%/*}"
        done
    done
}

# Room and sub-room of a path below LAYER/src or of a public header; root: a file of LAYER/src itself. PUBLIC stands for
# the sub-room of a public header.
place_of() {  # PATH: in room, sub
    case $1 in
        */include/*) REPLY=${1#*/include/*/} && sub=PUBLIC ;;
        *) REPLY=${1#*/src/} && sub= ;;
    esac
    [[ $REPLY == */* ]] && room=${REPLY%%/*} || room=root
    [[ -n $sub ]] && return
    REPLY=${REPLY#*/}
    [[ $REPLY == */* ]] && sub=${REPLY%%/*} || sub=.
}

check_edge() {  # WHERE FILE HEADER
    local layer=${2%%/*} header room sub from from_sub
    [[ -n ${has_edges[$layer]:-} ]] || return
    if [[ -e $layer/src/$3 ]]; then
        header=$layer/src/$3
    elif [[ $layer == engine && -e $layer/include/$3 ]]; then
        header=$layer/include/$3
    else
        return
    fi
    [[ $2 == "$layer"/src/* || ($layer == engine && $2 == engine/include/*) ]] || return
    place_of "$2" && from=$room from_sub=$sub
    place_of "$header"
    if [[ $from != "$room" ]]; then
        check_rooms "$1" "$3"
    elif [[ -n ${has_subs[$layer/$room]:-} && $from_sub != "$sub" && $from_sub != PUBLIC && $sub != PUBLIC ]]; then
        sub_used[$layer/$room/$from_sub/$sub]=1
        [[ -n ${sub_allowed[$layer/$room/$from_sub/$sub]:-} ]] ||
            refuse "$1" "$3" "$layer/src/$room/$from_sub may not lean on $sub (tests/layering/${layer}_edges.txt)"
    fi
}

check_rooms() {  # WHERE HEADER, of layer, from, from_sub, room and sub
    if [[ -n ${left_of[$layer/$from/$from_sub/$room]:-} ]]; then
        left_used[$layer/$from/$from_sub/$room]=1
        return
    fi
    used[$layer/$from/$room]=1
    [[ -n ${allowed[$layer/$from/$room]:-} ]] ||
        refuse "$1" "$2" "$layer/src/$from may not lean on $room (tests/layering/${layer}_edges.txt)"
    [[ -n ${pair_room[$layer/$from]:-} && $sub != PUBLIC ]] || return
    is_of_pair || return
    right_used[$layer/$from/$room/$sub]=1
    [[ -n ${right_of[$layer/$from/$room/$sub]:-} ]] ||
        refuse "$1" "$2" "$layer/src/$from may lean on other sub-rooms of $room alone (tests/layering/${layer}_edges.txt)"
}

is_of_pair() {  # whether `from` and `room` are the two of a pair
    local key
    for key in "${!right_of[@]}"; do
        [[ $key == "$layer/$from/$room/"* ]] && return 0
    done
    return 1
}

declare -A has_edges
for layer in engine ui; do
    edges=tests/layering/${layer}_edges.txt
    if [[ ! -f $edges ]]; then
        [[ -d $layer/src ]] && refuse "$edges" "missing" "the folders of $layer/src have no list of edges"
        continue
    fi
    has_edges[$layer]=1
    read_edges "$layer" "$edges"
done

folders=()
for folder in kernels engine ui app tests; do
    [[ -d $folder ]] && folders+=("$folder")
done
((${#folders[@]} > 0)) || { echo "$root: no layer folder here"; exit 2; }

pattern='^[[:space:]]*#[[:space:]]*include(_next)?[[:space:]]*[<"]([^>"]+)[>"]'
lines=0
while IFS= read -r line; do
    file=${line%%:*}
    rest=${line#*:}
    [[ ${rest#*:} =~ $pattern ]] || continue
    lines=$((lines + 1))
    check_include "$file:${rest%%:*}" "$file" "${BASH_REMATCH[2]}"
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' "${folders[@]}" \
    --include='*.h' --include='*.hpp' --include='*.cpp' --include='*.cc' --include='*.inc' \
    --include='*.cu' --include='*.cuh')

refuse_unused() {  # NAMES_OF_LISTED NAMES_OF_USED
    local -n listed=$1 seen=$2
    local edge
    for edge in "${!listed[@]}"; do
        [[ -n ${seen[$edge]:-} ]] || refuse "tests/layering/${edge%%/*}_edges.txt" "${edge#*/}" "listed, but nothing includes it"
    done
}
refuse_unused allowed used
refuse_unused sub_allowed sub_used
refuse_unused left_of left_used
refuse_unused right_of right_used

# A public header stands in the room of its source.
while IFS= read -r header; do
    name=$(basename "$header" .h)
    room=$(basename "$(dirname "$header")")
    mapfile -t sources < <(compgen -G "engine/src/*/$name.cpp"; compgen -G "engine/src/*/*/$name.cpp")
    ((${#sources[@]} == 0)) || printf '%s\n' "${sources[@]}" | grep -q "^engine/src/$room/" ||
        refuse "$header" "${sources[*]}" "its source is in another room"
done < <(find engine/include/engine -mindepth 2 -name '*.h' 2> /dev/null)

# Only one pair of files may use oneDNN, whose interface differs between versions 2 and 3.
mapfile -t dnnl < <(grep -rlE '^[[:space:]]*#[[:space:]]*include.*dnnl\.hpp' "${folders[@]}" \
    --include='*.h' --include='*.cpp' | grep -v '^tests/')
((${#dnnl[@]} > 2)) && refuse "${dnnl[*]}" "dnnl.hpp" "only one pair of files may include it"

# Link lines too: kernels and engine must not link Qt.
while IFS= read -r line; do
    refuse "${line%%:*}" "${line#*:}" "kernels and engine must not link Qt"
done < <(grep -rE 'Qt6::|QCustomPlot' kernels engine --include=CMakeLists.txt 2>/dev/null)

echo "$lines includes looked at, $failures refused"
((failures == 0 && lines > 0))
