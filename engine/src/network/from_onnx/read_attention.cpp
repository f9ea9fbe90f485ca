#include <algorithm>
#include <cmath>
#include <limits>

#include "network/from_onnx/operator_call.h"

/// Attention as one operator: products, softmax and mask, which lifting joins again where a layer has the same.
namespace engine::network {
namespace {

/// N x heads x T x features, of a value that has so or N x T x (heads features).
int by_heads(OperatorCall& call, std::size_t at, std::int64_t heads) {
    const Extents sizes = call.sizes(at);
    if (sizes.size() == 4) return call.input(at);
    if (sizes.size() != 3 || heads < 1 || call.number(sizes[2]) % heads != 0) call.fail("its heads do not fit the features");
    const Extent width{sizes[2].number / heads};
    const int parted = call.add_view("Reshape", {}, call.input(at), {sizes[0], sizes[1], {heads}, width});
    return call.add_view("Permute", {0, 2, 1, 3}, parted, {sizes[0], {heads}, sizes[1], width});
}

/// Each head so often that they are as many as the queries'.
int for_heads(OperatorCall& call, int value, const Extent& heads) {
    const Extents sizes = call.graph.value(value).sizes;
    const std::int64_t have = call.number(sizes[1]), want = call.number(heads);
    if (have == want) return value;
    constexpr std::int64_t most = 64;
    if (want % have != 0 || want / have > most) call.fail("its heads do not fit each other");
    const int single = call.add_view("Reshape", {}, value, {sizes[0], sizes[1], {1}, sizes[2], sizes[3]});
    const int all = call.add_before("Concat", "dim=2", std::vector<int>(static_cast<std::size_t>(want / have), single), {sizes[0], sizes[1], {want / have}, sizes[2], sizes[3]});
    return call.add_view("Reshape", {}, all, {sizes[0], heads, sizes[2], sizes[3]});
}

constexpr float masked_out = std::numeric_limits<float>::lowest();

/// A row without keys gives zeros in ONNX and the mean of all values here.
int checked_mask(OperatorCall& call, ImportedConstant made) {
    const auto columns = static_cast<std::ptrdiff_t>(made.dims.back());
    for (auto row = made.numbers.begin(); row != made.numbers.end(); row += columns)
        if (std::all_of(row, row + columns, [](float each) { return each == masked_out; })) call.fail("a row of its mask has no keys");
    return call.graph.add_constant(std::move(made));
}

/// Truths as numbers that are added to scores.
int added_mask(OperatorCall& call, int mask, const Extents& scores) {
    const ImportedValue of = call.graph.value(mask);
    if (of.sizes.empty() || of.sizes.size() > 4 || broadcast_extents({&of.sizes, &scores}) != scores) call.fail("its mask does not fit the scores");
    if (!of.whole) return mask;
    if (of.constant < 0 || call.graph.constant(of.constant).count() == 0) call.fail("its mask follows from the input");
    const Extents truths = call.graph.wholes(of.constant);
    ImportedConstant made{.dims = call.graph.constant(of.constant).dims, .fixed = true};
    for (const Extent& each : truths) made.numbers.push_back(each.number != 0 ? 0.0F : masked_out);
    call.graph.count_work(made.count());
    return checked_mask(call, std::move(made));
}

/// Keys from `left` places before each query to `right` behind it; -1: all.
int band_mask(OperatorCall& call, const Extents& scores, std::int64_t left, std::int64_t right) {
    const std::int64_t rows = call.number(scores[2]), columns = call.number(scores[3]);
    call.graph.count_work(rows * columns);
    ImportedConstant made{.dims = {rows, columns}, .fixed = true};
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) made.numbers.push_back((left < 0 || c >= r - left) && (right < 0 || c <= r + right) ? 0.0F : masked_out);
    return checked_mask(call, std::move(made));
}

void attention(OperatorCall& call) {
    if (call.given(4) || call.given(5) || call.given(6)) call.fail("it has keys and values of earlier calls");
    for (std::size_t i = 1; i < call.node.outputs.size(); ++i)
        if (!call.node.outputs[i].empty()) call.fail("its scores or keys are asked for");
    const Extents in = call.sizes();
    const bool joined = in.size() == 3, causal = call.node.whole("is_causal", 0) != 0;
    const std::int64_t q_heads = call.node.whole("q_num_heads", 0), kv_heads = call.node.whole("kv_num_heads", 0);
    const double softcap = call.node.number("softcap", 0);
    const std::int64_t left = call.node.whole("left_window_size", -1), right = causal ? 0 : call.node.whole("right_window_size", -1);
    const bool banded = left >= 0 || right >= 0;
    if (banded && call.given(3) && call.value(3).whole) call.fail("it has a mask of truths and a window");
    if (joined && causal && left < 0 && !call.given(3) && !call.node.has("scale") && softcap == 0 && q_heads == kv_heads && in == call.sizes(1) && in == call.sizes(2) && q_heads > 0)
        return static_cast<void>(call.add("Attention", std::to_string(q_heads) + ", causal=true", {call.input(0), call.input(1), call.input(2)}, in));
    const int q = by_heads(call, 0, q_heads);
    const Extents q_sizes = call.graph.value(q).sizes;
    if (q_sizes.size() != 4) call.fail("its queries have other dimensions");
    const int k = for_heads(call, by_heads(call, 1, kv_heads), q_sizes[1]), v = for_heads(call, by_heads(call, 2, kv_heads), q_sizes[1]);
    const Extents k_sizes = call.graph.value(k).sizes, v_sizes = call.graph.value(v).sizes;
    if (k_sizes.size() != 4 || v_sizes.size() != 4 || k_sizes[3] != q_sizes[3] || k_sizes[2] != v_sizes[2]) call.fail("its queries, keys and values do not fit each other");
    const double width = static_cast<double>(call.number(q_sizes[3])), scale = call.node.number("scale", 0) != 0 ? call.node.number("scale", 0) : 1 / std::sqrt(width);
    const int turned = call.add_view("Permute", {0, 1, 3, 2}, k, {k_sizes[0], k_sizes[1], k_sizes[3], k_sizes[2]});
    const Extents scores{q_sizes[0], q_sizes[1], q_sizes[2], k_sizes[2]};
    int at = call.add_before("MatMul", "", {q, turned}, scores);
    at = call.add_before("Mul", "", {at, call.number_value(scale)}, scores);
    if (softcap != 0) {
        at = call.add_before("Tanh", "", {call.add_before("Scale", number_text(1 / softcap), {at}, scores)}, scores);
        at = call.add_before("Scale", number_text(softcap), {at}, scores);
    }
    if (call.given(3)) at = call.add_before("Add", "", {at, added_mask(call, call.input(3), scores)}, scores);
    if (banded) at = call.add_before("Add", "", {at, band_mask(call, scores, left, right)}, scores);
    at = call.add_before("Softmax", "3", {at}, scores);
    call.step().list = {3};
    const Extents out{q_sizes[0], q_sizes[1], q_sizes[2], v_sizes[3]};
    at = call.add_before("MatMul", "", {at, v}, out);
    if (joined) {
        at = call.add_view("Permute", {0, 2, 1, 3}, at, {out[0], out[2], out[1], out[3]});
        at = call.add_view("Reshape", {}, at, {out[0], out[2], {out[1].number * out[3].number}});
    }
    call.give(at);
}

}  // namespace

const std::map<std::string, ReadOperator>& attention_operators() {
    static const std::map<std::string, ReadOperator> all = {{"Attention", attention}};
    return all;
}

}  // namespace engine::network
