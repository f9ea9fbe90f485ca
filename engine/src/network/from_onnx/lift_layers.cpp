#include <algorithm>
#include <cmath>

#include "network/from_onnx/lifter.h"
#include "network/from_onnx/operator_call.h"

namespace engine::network {

bool Lifter::layer_norm(int at) {
    // ((x - mean) / sqrt(mean((x - mean)^2) + eps)) * weight + bias
    if (step(at).kind != "Add" || step(at).inputs.size() != 2) return false;
    for (const int side : {0, 1}) {
        const int scaled = maker(step(at).inputs[static_cast<std::size_t>(side)], "Mul");
        const Extent width = graph_.value(step(at).outputs[0]).sizes.empty() ? Extent{} : graph_.value(step(at).outputs[0]).sizes.back();
        const int bias = row(step(at).inputs[static_cast<std::size_t>(1 - side)], width);
        if (scaled < 0 || bias < 0) continue;
        for (const int inner : {0, 1}) {
            const int ratio = maker(step(scaled).inputs[static_cast<std::size_t>(inner)], "Div");
            const int weight = row(step(scaled).inputs[static_cast<std::size_t>(1 - inner)], width);
            if (ratio >= 0 && weight >= 0 && normalised(at, ratio, weight, bias)) return true;
        }
    }
    return false;
}

bool Lifter::normalised(int at, int ratio, int weight, int bias) {
    const int difference = step(ratio).inputs[0], root = maker(step(ratio).inputs[1], "Sqrt");
    const int minus = graph_.value(difference).step;
    if (root < 0 || minus < 0 || step(minus).kind != "Sub") return false;
    const int sum = maker(step(root).inputs[0], "Add");
    if (sum < 0) return false;
    int variance = -1;
    std::optional<double> eps;
    for (const int side : {0, 1})
        if (const auto number = graph_.scalar(step(sum).inputs[static_cast<std::size_t>(1 - side)])) {
            eps = number;
            variance = maker(step(sum).inputs[static_cast<std::size_t>(side)], "Mean");
        }
    const int x = step(minus).inputs[0], mean = maker(step(minus).inputs[1], "Mean");
    const Dims last = {rank(x) - 1, 1};
    if (!eps || variance < 0 || mean < 0 || step(variance).list != last || step(mean).list != last || step(mean).inputs[0] != x) return false;
    int square = maker(step(variance).inputs[0], "Square");
    if (square < 0) {
        square = maker(step(variance).inputs[0], "Mul");
        if (square >= 0 && step(square).inputs[0] != step(square).inputs[1]) return false;
    }
    if (square < 0 || step(square).inputs[0] != difference || users(difference).size() > 3) return false;
    become(at, "LayerNorm", std::fabs(*eps - 1e-5) < 1e-11 ? "" : "eps=" + number_text(*eps), {x});
    step(at).weights = {{"weight", weight, {graph_.constant(weight).count()}, {}}, {"bias", bias, {graph_.constant(bias).count()}, {}}};
    return true;
}

bool Lifter::normal_gelu(int at) {
    if (step(at).kind != "Erf") return false;
    const int inner = graph_.value(step(at).inputs[0]).step;
    if (inner < 0 || users(step(at).outputs[0]).size() != 1 || users(step(at).inputs[0]).size() != 1) return false;
    const int x = step(inner).kind == "Div" ? beside(inner, std::sqrt(2.0)) : step(inner).kind == "Mul" ? beside(inner, std::sqrt(0.5)) : -1;
    const int sum = users(step(at).outputs[0])[0];
    if (x < 0 || sum < 0 || step(sum).kind != "Add" || beside(sum, 1) != step(at).outputs[0]) return false;
    bool has_x = false, has_half = false;
    int end = sum;
    while (!(has_x && has_half)) {
        const auto& next = users(step(end).outputs[0]);
        if (next.size() != 1 || next[0] < 0 || step(next[0]).kind != "Mul" || step(next[0]).inputs.size() != 2) return false;
        const int other = step(next[0]).inputs[step(next[0]).inputs[0] == step(end).outputs[0] ? 1 : 0];
        end = next[0];
        const int half = graph_.value(other).step;
        if (other == x && !has_x) has_x = true;
        else if (is(other, 0.5) && !has_half) has_half = true;
        else if (!has_x && !has_half && half >= 0 && step(half).kind == "Mul" && beside(half, 0.5) == x) has_x = has_half = true;
        else return false;
    }
    become(end, "GELU", "", {x});
    return true;
}

bool Lifter::gated(int at) {
    if (step(at).kind != "Mul" || step(at).inputs.size() != 2) return false;
    for (const int side : {0, 1}) {
        const int x = step(at).inputs[static_cast<std::size_t>(side)], other = step(at).inputs[static_cast<std::size_t>(1 - side)];
        for (const auto& [gate, whole] : {std::pair("Sigmoid", "SiLU"), std::pair("Hardsigmoid", "Hardswish")})
            if (const int made = maker(other, gate); made >= 0 && step(made).inputs[0] == x) {
                become(at, whole, "", {x});
                return true;
            }
    }
    return false;
}

bool Lifter::dropout(int at) {
    if (step(at).kind != "Mul" || step(at).inputs.size() != 2) return false;
    for (const int side : {0, 1}) {
        const int ratio = maker(step(at).inputs[static_cast<std::size_t>(1 - side)], "Div"), x = step(at).inputs[static_cast<std::size_t>(side)];
        const int keep = ratio < 0 ? -1 : maker(step(ratio).inputs[0], "Keep");
        const auto share = ratio < 0 ? std::nullopt : graph_.scalar(step(ratio).inputs[1]);
        if (keep < 0 || !share || step(keep).arguments != number_text(*share)) continue;
        const Extents &mask = graph_.value(step(keep).outputs[0]).sizes, &sizes = graph_.value(x).sizes;
        const bool samples = mask.size() == sizes.size() && mask[0] == sizes[0] && std::all_of(mask.begin() + 1, mask.end(), [](const Extent& each) { return each == Extent{1}; });
        if (!samples && mask != sizes) return false;
        become(at, mask == sizes ? "Dropout" : "DropPath", number_text(std::round((1 - *share) * 1e6) / 1e6), {x});
        return true;
    }
    return false;
}

bool Lifter::hard_swish(int at) {
    const int inner = step(at).kind == "Div" ? beside(at, 6) : step(at).kind == "Mul" ? beside(at, 1.0 / 6) : -1;
    if (inner < 0) return false;
    const auto shifted = [&](int value) {
        const int clamp = maker(value, "ReLU6");
        const int sum = clamp < 0 ? -1 : maker(step(clamp).inputs[0], "Add");
        return sum < 0 ? -1 : beside(sum, 3);
    };
    if (const int x = shifted(inner); x >= 0) {
        become(at, "Hardsigmoid", "", {x});
        return true;
    }
    const int product = maker(inner, "Mul");
    if (product < 0 || step(product).inputs.size() != 2) return false;
    for (const int side : {0, 1}) {
        const int x = step(product).inputs[static_cast<std::size_t>(side)];
        if (shifted(step(product).inputs[static_cast<std::size_t>(1 - side)]) != x) continue;
        become(at, "Hardswish", "", {x});
        return true;
    }
    return false;
}

}  // namespace engine::network
