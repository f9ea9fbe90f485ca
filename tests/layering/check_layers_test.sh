#!/usr/bin/env bash
# check_layers_test.sh: the layering test passes a good tree and refuses each way of breaking the layers.
set -u
checker=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

make_good_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{kernels/{include/kernels,cpu,cuda,cuda_absent},engine/{include/engine/session,src/ops},ui/{include/ui,src/panels},app,tests/engine}
    echo '#include <cstdint>' >"$tree/kernels/include/kernels/gemm.h"
    printf '#include "kernels/gemm.h"\n#include <oneapi/dnnl/dnnl.hpp>\n' >"$tree/kernels/cpu/gemm.cpp"
    echo '#include <cuda_runtime.h>' >"$tree/kernels/cuda/gemm.cu"
    printf '#include "cuda_absent/absent.h"\n' >"$tree/kernels/cuda_absent/gemm.cpp"
    echo '#include <string>' >"$tree/engine/include/engine/session/session.h"
    printf '#include "engine/session/session.h"\n' >"$tree/engine/src/ops/linear.h"
    printf '#include "ops/linear.h"\n#include "kernels/gemm.h"\n' >"$tree/engine/src/ops/linear.cpp"
    printf '#include <QWidget>\n#include "engine/session/session.h"\n' >"$tree/ui/include/ui/window.h"
    printf '#include "ui/window.h"\n#include <qcustomplot.h>\n' >"$tree/ui/src/panels/loss.cpp"
    printf '#include <QApplication>\n#include "ui/window.h"\n#include "engine/session/session.h"\n' >"$tree/app/main.cpp"
    printf '#include <gtest/gtest.h>\n#include "ops/linear.h"\n' >"$tree/tests/engine/linear_test.cpp"
    mkdir -p "$tree"/engine/src/{core,amp} "$tree"/tests/layering
    echo '#include <vector>' >"$tree/engine/src/core/tensor.h"
    mkdir "$tree/engine/include/engine/core" && echo '#include <string>' >"$tree/engine/include/engine/core/message.h"
    echo '#include "core/tensor.h"' >"$tree/engine/src/amp/autocast.h"
    # Includes at both levels, and a pair of rooms.
    mkdir -p "$tree"/engine/src/{session,nn/{layers,blocks},tape}
    echo '#include "nn/layers/layer.h"' >"$tree/engine/src/nn/blocks/block.h"
    echo '#include "engine/session/session.h"' >"$tree/engine/src/nn/layers/layer.h"
    echo '#include "tape/tape.h"' >>"$tree/engine/src/nn/blocks/block.h"
    echo '#include "nn/layers/layer.h"' >"$tree/engine/src/tape/tape.h"
    touch "$tree/engine/src/session/session.cpp"
    cat >"$tree/tests/layering/engine_edges.txt" <<-'END'
	# a comment
	core:
	amp: core
	session:
	ops: session
	nn: session
	tape: nn
	nn/layers:
	nn/blocks: layers
	nn/blocks > tape > nn/layers
	END
    printf 'panels:\n' >"$tree/tests/layering/ui_edges.txt"
}

expect_refused_tree() {  # TEXT, of the tree as it is
    local output
    if output=$("$checker" "$tree"); then
        echo "FAILED: not refused: $1"
        failures=$((failures + 1))
    elif [[ $output != *"$1"* ]]; then
        echo "FAILED: $1: refused for another reason: $output"
        failures=$((failures + 1))
    fi
}

expect_refused() {  # FILE LINE RULE_TEXT
    make_good_tree
    mkdir -p "$(dirname "$tree/$1")"
    echo "$2" >>"$tree/$1"
    local output
    if output=$("$checker" "$tree"); then
        echo "FAILED: not refused: $1: $2"
        failures=$((failures + 1))
    elif [[ $output != *"$1"*"$3"* ]]; then
        echo "FAILED: $1: $2: refused for another reason: $output"
        failures=$((failures + 1))
    fi
}

make_good_tree
if ! output=$("$checker" "$tree"); then
    echo "FAILED: a good tree is refused: $output"
    failures=$((failures + 1))
fi

expect_refused kernels/cpu/gemm.cpp '#include "engine/session/session.h"' 'no layer above'
expect_refused kernels/cpu/gemm.cpp '#include <QString>' 'must not include Qt'
expect_refused kernels/cpu/gemm.cpp '#include <cuda_runtime.h>' 'belong in kernels/cuda'
expect_refused kernels/include/kernels/gemm.h '#include <hwy/highway.h>' 'what computes'
expect_refused engine/src/ops/linear.cpp '#include "ui/window.h"' 'only kernels'
expect_refused engine/src/ops/linear.cpp '#  include <QtCore/QString>' 'must not include Qt'
expect_refused engine/src/ops/linear.cpp '#include <cublasLt.h>' 'CUDA headers'
expect_refused engine/src/ops/linear.cpp '#include <cblas.h>' 'belong to kernels'
expect_refused engine/include/engine/session/session.h '#include "kernels/gemm.h"' 'must not show kernels'
expect_refused engine/include/engine/session/session.h '#include "ops/linear.h"' 'lean on engine/src'
expect_refused ui/src/panels/loss.cpp '#include "kernels/gemm.h"' 'only the engine may'
expect_refused ui/src/panels/loss.cpp '#include "ops/linear.h"' 'public headers'
expect_refused ui/src/panels/loss.cpp '#include "app/main.h"' 'must not include app'
expect_refused app/main.cpp '#include "ops/linear.h"' 'public headers'
expect_refused app/main.cpp '#include <gtest/gtest.h>' 'belong to tests'
expect_refused tests/engine/linear_test.cpp '#include "../../engine/src/ops/linear.h"' 'never through'
expect_refused engine/CMakeLists.txt 'target_link_libraries(engine PUBLIC Qt6::Core)' 'must not link Qt'

expect_refused engine/src/core/tensor.h '#include "amp/autocast.h"' 'core may not lean on amp'
expect_refused engine/src/ops/linear.cpp '#include "core/tensor.h"' 'ops may not lean on core'
# Two levels; a public header counts as its room.
expect_refused engine/src/nn/layers/layer.h '#include "nn/blocks/block.h"' 'engine/src/nn/layers may not lean on blocks'
expect_refused engine/src/amp/autocast.h '#include "engine/session/session.h"' 'amp may not lean on session'
expect_refused engine/include/engine/session/session.h '#include "engine/core/message.h"' 'session may not lean on core'
expect_refused engine/src/nn/layers/layer.h '#include "tape/tape.h"' 'nn may not lean on tape'
expect_refused engine/src/tape/tape.h '#include "nn/blocks/block.h"' 'tape may lean on other sub-rooms of nn alone'
expect_refused tests/layering/engine_edges.txt 'nn/later: blocks' 'nn/later: no such folder'
expect_refused tests/layering/engine_edges.txt 'nn/layers: blocks' 'nn/layers: listed twice'
expect_refused tests/layering/engine_edges.txt 'nn/layers > tape > nn/blocks' 'stands above its left side'
expect_refused tests/layering/engine_edges.txt 'nn leans on tape' 'no known form'
expect_refused tests/layering/engine_edges.txt 'optim: scaler' 'only on folders listed above'
expect_refused tests/layering/engine_edges.txt 'nn: core' 'nothing includes it'
expect_refused tests/layering/engine_edges.txt 'core: amp' 'core: listed twice'
expect_refused tests/layering/engine_edges.txt 'gone:' 'gone: no such folder'
expect_refused tests/layering/ui_edges.txt 'gone:' 'gone: no such folder'

for layer in engine ui; do
    make_good_tree
    rm "$tree/tests/layering/${layer}_edges.txt"
    expect_refused_tree "tests/layering/${layer}_edges.txt: missing: the folders of $layer/src"
done

make_good_tree
mv "$tree/engine/src/session/session.cpp" "$tree/engine/src/ops/"
expect_refused_tree 'engine/include/engine/session/session.h: engine/src/ops/session.cpp: its source is in another room'

make_good_tree
sed -i 's/^nn: session/nn: session core/; s/^tape: nn/amp: nn\ntape: nn amp/' "$tree/tests/layering/engine_edges.txt"
expect_refused_tree 'tape includes amp, which may lean on nn'

make_good_tree
find "$tree" -type f -not -name '*_edges.txt' -delete
expect_refused_tree '0 includes looked at'

make_good_tree
cp "$tree/kernels/cpu/gemm.cpp" "$tree/kernels/cpu/conv.cpp"
cp "$tree/kernels/cpu/gemm.cpp" "$tree/kernels/cpu/pool.cpp"
if "$checker" "$tree" >/dev/null; then
    echo "FAILED: three files that include dnnl.hpp are not refused"
    failures=$((failures + 1))
fi

rm -rf "${tree:?}"/*
"$checker" "$tree" >/dev/null && { echo "FAILED: an empty tree passes"; failures=$((failures + 1)); }

((failures == 0)) && echo "all cases as expected"
exit $((failures > 0))
