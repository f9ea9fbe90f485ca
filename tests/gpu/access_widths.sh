#!/usr/bin/env bash
# access_widths.sh ARCHITECTURE OBJECT...: reads the machine code of those of the objects that are kernels, for one
# architecture, and fails where a kernel stores or loads four or more neighbouring values of its memory one by one,
# narrower than 16 bytes: the compiler leaves such runs where values meet after a branch, a store of 2 bytes costs the
# cache as much as one of 16, and no other test sees it. Exit code 77, with the reason, where cuobjdump or nvdisasm is missing.
#
# Kernels with a reason for narrow accesses are listed below.
set -euo pipefail
architecture=${1:?usage: access_widths.sh ARCHITECTURE OBJECT...}
shift
here=$(dirname "$(readlink -f "$0")")

# shellcheck source=find_cuobjdump.sh
source "$here/find_cuobjdump.sh"
if ! cuobjdump=$(find_cuobjdump); then
    echo "no cuobjdump (Python's wheel nvidia-cuda-cuobjdump has it): the widths of accesses were not looked at"
    exit 77
fi

# Patterns of mangled names without spaces, and why.
allowed() {
    cat <<'LIST'
(axpby|unscale|gradient_check|abs_max_list|squares|update|larc|norms|total_norm|novograd_norm|lamb[a-z_]*)_kernel lists of tensors: the way for tensors that are not aligned for packs is beside that for those that are
gradient_sums_kernelI[df]E the same, of two lists
dropout_mask_kernel its words of four flags are one store; bytes are left for the ends
embedding_bag_kernel indices and weights of a bag, which begins anywhere in their lists
fold_kernel a walk over sorted keys, unrolled, with an early end
end_step_kernel one thread copies the figures of a step
merge_gradient_statistics_kernel one thread copies the figures of a step
add_score_pairs_kernel counters of 64 bits, added one by one
math_kernelILNS_7UnaryOpE[0-9]+EdE coefficients of sin and cos in double, from a table of CUDA's own library
(begin_step|set_learning_rate)_kernel the same, for the cosine of a schedule in one thread
data_gradient_kernelI neighbouring threads read the same values, so each load is one sector; nvcc unrolls the sum on 10.0
welford_merge_kernel counts of all parts, the same for all threads; nvcc unrolls the loop on 10.0
LIST
}

objects=$(printf '%s\n' "$@" | grep '\.cu\.o$' || true)
[[ -n $objects ]] || { echo "no objects of kernels among $# files"; exit 1; }
# It prints nothing of use without the disassembler, which is a wheel of its own.
said=$("$cuobjdump" -sass -arch "sm_$architecture" "$(head -1 <<< "$objects")" 2>&1) || true
if [[ $said == *"cuobjdump fatal"* ]]; then
    echo "cuobjdump cannot read machine code (Python's wheel nvidia-cuda-nvdisasm has what it calls): $said"
    exit 77
fi
allowed=$(allowed)
export allowed cuobjdump architecture here
look_at() {
    local code
    # An object without device code is none of our business.
    code=$("$cuobjdump" -sass -arch "sm_$architecture" "$1" 2> /dev/null) || return 0
    awk -v object="$(basename "$1" .o)" -v allowed="$allowed" -f "$here/access_widths.awk" <<< "$code"
}
export -f look_at
# shellcheck disable=SC2016
if ! xargs -P "$(nproc)" -I{} bash -c 'look_at "$1"' _ {} <<< "$objects"; then
    echo "narrow accesses: store and load them as packs (kernels/cuda/pack.cuh), or name the kernel in $0 with the reason"
    exit 1
fi
echo "$(wc -l <<< "$objects") objects: no run of narrow accesses but those allowed"
