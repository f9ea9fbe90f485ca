#!/usr/bin/env bash
# check_layers.sh ROOT: every #include obeys the layers kernels <- engine <- ui <- app. Prints each line that does
# not as FILE:LINE: TEXT: RULE; exit code 1 if there is one.
#
# Include paths stop most of it. This test checks the rest: "../", system headers, public headers that include private
# ones, and which folders of engine/src and ui/src may include which (*_edges.txt).
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

# The folders of one layer: LAYER_edges.txt beside this script lists for each the folders that it may include.
declare -A listed allowed used
read_edges() {  # LAYER FILE
    local line folder edge
    while IFS= read -r line; do
        [[ $line =~ ^([a-z_]+):(.*)$ ]] || continue
        folder=${BASH_REMATCH[1]}
        # A second line could allow a cycle.
        [[ -z ${listed[$1/$folder]:-} ]] || refuse "$2" "$folder" "listed twice"
        [[ $folder == root || -d $1/src/$folder ]] || refuse "$2" "$folder" "no such folder"
        for edge in ${BASH_REMATCH[2]}; do
            [[ -n ${listed[$1/$edge]:-} ]] || refuse "$2" "$folder: $edge" "a folder may lean only on folders listed above it"
            allowed[$1/$folder/$edge]=1
        done
        listed[$1/$folder]=1
    done < "$2"
}

# Folder below LAYER/src of a path there; root: none.
folder_of() {  # PATH: in REPLY
    REPLY=${1#*/src/}
    [[ $REPLY == */* ]] && REPLY=${REPLY%%/*} || REPLY=root
}

check_edge() {  # WHERE FILE HEADER
    local layer=${2%%/*} from to
    [[ $2 == "$layer"/src/* && -n ${has_edges[$layer]:-} && -e $layer/src/$3 ]] || return
    folder_of "$2" && from=$REPLY
    folder_of "$layer/src/$3" && to=$REPLY
    [[ $from == "$to" ]] && return
    used[$layer/$from/$to]=1
    [[ -n ${allowed[$layer/$from/$to]:-} ]] ||
        refuse "$1" "$3" "$layer/src/$from may not lean on $to (tests/layering/${layer}_edges.txt)"
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

for edge in "${!allowed[@]}"; do
    [[ -n ${used[$edge]:-} ]] || refuse "tests/layering/${edge%%/*}_edges.txt" "${edge#*/}" "listed, but nothing includes it"
done

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
