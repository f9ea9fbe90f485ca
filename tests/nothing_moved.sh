#!/usr/bin/env bash
# tests/nothing_moved.sh OLD NEW [MODEL[/PRECISION]...]: two programs compute the same bits. OLD and NEW are `halftone`
# programs, or build folders that hold one. Each trains every model below in every precision for 20 steps on two threads, or
# those that are named. Compared byte by byte: the weights and the optimizer's state of the last checkpoint, the record but for
# its columns of time and memory, and the figures of every evaluation. One line a run; exit code 1 if one differs or fails.
#
# Data sets are those of ../shared/data where they are there, otherwise generated ones. Work lies in $TMPDIR; NOTHING_MOVED_KEEP
# names a folder that stays.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage='usage: tests/nothing_moved.sh OLD NEW [MODEL[/PRECISION]...]'
program_of() {  # PROGRAM or BUILD FOLDER
    if [[ -d $1 ]]; then realpath "$1/halftone"; else realpath "$1"; fi
}
old=$(program_of "${1:?$usage}") new=$(program_of "${2:?$usage}")
[[ -x $old && -x $new ]] || { echo "no program: $old, $new"; exit 2; }
wanted=("${@:3}")

work=${NOTHING_MOVED_KEEP:-$(mktemp -d)}
[[ -n ${NOTHING_MOVED_KEEP:-} ]] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home"
# No history, no presets of the person who runs this.
export HOME=$work/home XDG_DATA_HOME=$work/home/data XDG_CONFIG_HOME=$work/home/config XDG_CACHE_HOME=$work/home/cache

precisions=(fp32 amp-fp16 amp-bf16 o2-fp16)
models=(mlp lenet resnet18 resnext50 mobilenetv2 lstm gru transformer-lm bert dlrm autoencoder dcgan)
data=../shared/data
pictures=(dataset.kind=glyphs)
[[ -d $data/fashion-mnist ]] && pictures=(dataset.kind=fashion-mnist "dataset.path=$data/fashion-mnist")
colours=(dataset.kind=glyphs)
[[ -d $data/cifar100-15k ]] && colours=(dataset.kind=cifar100 "dataset.path=$data/cifar100-15k")
table=(dataset.kind=spirals)
[[ -f $data/tabular/iris.csv ]] && table=(dataset.kind=csv "dataset.path=$data/tabular/iris.csv")
words=(dataset.kind=text-generated)
[[ -f $data/tinyshakespeare/input.txt ]] && words=(dataset.kind=text-chars "dataset.path=$data/tinyshakespeare/input.txt")

# Settings of MODEL, a line each. Between them they have every kind of layer that trains, dropout, batch norm, augmentation,
# hidden states, accumulation, clipping, recomputation, sparse gradients, and most optimizers and schedules.
settings_of() {
    local small=(dataset.train_limit=400 dataset.test_limit=16)
    local network=("${small[@]}" batch_size=4)
    local text=("${words[@]}" dataset.train_limit=20000 dataset.test_limit=1200 batch_size=8 bptt=24)
    case $1 in
        mlp) set -- "${table[@]}" batch_size=16 model.kind=mlp optimizer.kind=adamw schedule.kind=one-cycle ;;
        lenet) set -- "${pictures[@]}" "${small[@]}" batch_size=32 model.kind=lenet accumulate=2 dataset.augment=true ;;
        resnet18) set -- "${colours[@]}" "${network[@]}" model.kind=resnet18 dataset.augment=true clip.kind=norm ;;
        resnext50) set -- "${colours[@]}" "${network[@]}" batch_size=2 model.kind=resnext50 recompute=blocks ;;
        mobilenetv2) set -- "${colours[@]}" "${network[@]}" model.kind=mobilenetv2 optimizer.kind=lamb ;;
        lstm) set -- "${text[@]}" model.kind=rnn-lm model.options.hidden=64 model.options.embedding=64 clip.kind=norm ;;
        gru) set -- "${text[@]}" model.kind=rnn-lm model.options.cell=gru model.options.hidden=64 model.options.embedding=64 \
            optimizer.kind=novograd ;;
        transformer-lm) set -- "${text[@]}" model.kind=transformer-lm model.options.width=64 optimizer.kind=adamw \
            schedule.kind=polynomial ;;
        bert) set -- "${text[@]}" task.kind=masked-language-model model.kind=bert model.options.width=64 \
            model.options.layers=2 optimizer.kind=adamw schedule.warmup_steps=5 ;;
        dlrm) set -- dataset.kind=clicks-generated dataset.table_rows=200 dataset.train_limit=4000 dataset.test_limit=200 \
            batch_size=64 model.kind=dlrm 'model.options.bottom=[32]' 'model.options.top=[32]' optimizer.kind=adagrad ;;
        autoencoder) set -- "${pictures[@]}" "${small[@]}" batch_size=16 model.kind=autoencoder optimizer.kind=adam ;;
        dcgan) set -- "${pictures[@]}" "${small[@]}" batch_size=8 model.kind=dcgan model.options.channels=16 ;;
    esac
    # Half of the scaled runs skip a step.
    printf '%s\n' "$@" max_steps=20 epochs=1000000 threads=2 seed=3 checkpoint.every_steps=20 checkpoint.best=false \
        scaler.preset=classroom scaler.init_scale=4194304
}

is_wanted() {  # MODEL PRECISION
    local one
    ((${#wanted[@]})) || return 0
    for one in "${wanted[@]}"; do [[ $one == "$1" || $one == "$1/$2" ]] && return 0; done
    return 1
}

train() {  # PROGRAM FOLDER SETTING...
    local program=$1 folder=$2 setting arguments=()
    shift 2
    for setting in "$@"; do arguments+=(--set "$setting"); done
    "$program" train "${arguments[@]}" --out "$folder/run" > "$folder/log" 2>&1 &&
        "$program" export "$folder/run" --to csv -o "$folder/steps.csv" >> "$folder/log" 2>&1 || return 1
    # The columns of time and memory, found by their names.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) left_out[i] = $i ~ /^(elapsed_s|clock_s|memory_bytes|peak_bytes|samples_per_s)$|_ms$|^(card_|cpu_joules)/ }
        { line = ""; for (i = 1; i <= NF; ++i) if (!left_out[i]) line = line "," $i; print line }' \
        "$folder/steps.csv" > "$folder/steps"
    grep -E '"event": ?"(epoch|scale|done)"' "$folder/run/events.jsonl" |
        sed -E 's/"(run|time|seconds|wall_s|samples_per_s|[a-z_]*bytes|[a-z_]*_ms)": ?("[^"]*"|[^,}]*),?//g' > "$folder/evaluations"
    [[ $(wc -l < "$folder/steps") -eq 21 ]] && grep -q '"epoch"' "$folder/evaluations"
}

compare() {  # FOLDER: prints what differs, or nothing
    local state file files
    state=$(cd "$1/old/run" && echo checkpoint-20)
    files=$(cd "$1/old/run/$state" 2> /dev/null && ls ./*.safetensors) || { echo "no $state"; return; }
    [[ $files == "$(cd "$1/new/run/$state" 2> /dev/null && ls ./*.safetensors)" ]] || echo "files of $state"
    for file in $files; do
        cmp -s "$1/old/run/$state/$file" "$1/new/run/$state/$file" || echo "${file#./}"
    done
    cmp -s "$1/old/steps" "$1/new/steps" || echo "record: $(diff "$1/old/steps" "$1/new/steps" | grep -c '^<') rows"
    cmp -s "$1/old/evaluations" "$1/new/evaluations" || echo "evaluations"
}

runs=0 moved=0
for model in "${models[@]}"; do
    for precision in "${precisions[@]}"; do
        is_wanted "$model" "$precision" || continue
        runs=$((runs + 1))
        folder=$work/$model-$precision
        mkdir -p "$folder"/{old,new}
        mapfile -t settings < <(settings_of "$model")
        # A later value of a setting replaces an earlier one.
        declare -A value=()
        for setting in "${settings[@]}" "precision.preset=$precision"; do value[${setting%%=*}]=${setting#*=}; done
        settings=()
        for name in "${!value[@]}"; do settings+=("$name=${value[$name]}"); done
        started=$SECONDS
        if ! train "$old" "$folder/old" "${settings[@]}"; then
            result="OLD fails: $(tail -n 1 "$folder/old/log")"
        elif ! train "$new" "$folder/new" "${settings[@]}"; then
            result="NEW fails: $(tail -n 1 "$folder/new/log")"
        else
            result=$(compare "$folder" | paste -sd ';')
        fi
        [[ -z $result ]] || moved=$((moved + 1))
        printf '%-16s %-9s %s (%d s)\n' "$model" "$precision" "${result:-same}" $((SECONDS - started))
        [[ -n ${NOTHING_MOVED_KEEP:-} ]] || rm -rf "$folder"
    done
done
((runs)) || { echo "no such run: ${wanted[*]}"; exit 2; }
echo "$runs runs of 20 steps by two programs in $SECONDS s: $moved differ"
((moved == 0))
