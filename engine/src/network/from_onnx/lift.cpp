#include <algorithm>
#include <cmath>

#include "network/from_onnx/operator_call.h"

/// Layers that exporters take apart are put together again, where nothing else takes what is between.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;

class Lifter {
public:
    explicit Lifter(ImportedGraph& graph) : graph_(graph) {}

    void run() {
        // Later layers lean on those that are lifted before them.
        for (bool (Lifter::*rule)(int) : {&Lifter::bias, &Lifter::permutes, &Lifter::selected, &Lifter::layer_norm, &Lifter::normal_gelu, &Lifter::gated, &Lifter::hard_swish,
                                          &Lifter::attention, &Lifter::stacked, &Lifter::scaled})
            apply(rule);
        drop_unused();
    }

private:
    void apply(bool (Lifter::*rule)(int)) {
        bool changed = true;
        while (changed) {
            changed = false;
            users_ = graph_.users();
            for (int at = 0; at < static_cast<int>(graph_.steps.size()); ++at)
                if (!step(at).gone && (this->*rule)(at)) {
                    changed = true;
                    users_ = graph_.users();
                }
        }
    }

    ImportedStep& step(int at) { return graph_.step(at); }
    const std::vector<int>& users(int value) const { return users_[static_cast<std::size_t>(value)]; }
    int rank(int value) const { return static_cast<int>(graph_.value(value).sizes.size()); }

    /// The step of this kind that gives the value, which nothing else takes; -1: another one.
    int maker(int value, const char* kind) {
        const int at = graph_.value(value).step;
        return at >= 0 && !step(at).gone && step(at).kind == kind && step(at).outputs.size() == 1 && users(value).size() == 1 ? at : -1;
    }
    bool is(int value, double number) {
        const auto found = graph_.scalar(value);
        return found && std::fabs(*found - number) < 1e-4 * std::max(1.0, std::fabs(number));
    }
    /// The input of a pair beside a number; -1: the other one is none.
    int beside(int at, double number) {
        const ImportedStep& of = step(at);
        if (of.inputs.size() != 2) return -1;
        if (is(of.inputs[1], number)) return of.inputs[0];
        return of.kind != "Div" && of.kind != "Sub" && is(of.inputs[0], number) ? of.inputs[1] : -1;
    }
    /// A constant row of so many numbers.
    int row(int value, const Extent& count) {
        const ImportedValue& of = graph_.value(value);
        if (of.constant < 0 || !graph_.constant(of.constant).real || of.fill) return -1;
        const ImportedConstant& constant = graph_.constant(of.constant);
        return !constant.dims.empty() && constant.dims.back() == constant.count() && Extent{constant.count()} == count ? of.constant : -1;
    }

    /// `at` becomes a layer in the place of all steps that led to it.
    void become(int at, const std::string& kind, const std::string& arguments, std::vector<int> inputs) {
        ImportedStep& made = step(at);
        made.kind = kind;
        made.arguments = arguments;
        made.inputs = std::move(inputs);
        made.list.clear();
        ++graph_.lifted[kind];
    }

    /// MatMul and Add are a linear layer.
    bool bias(int at) {
        if (step(at).kind != "Add" || step(at).inputs.size() != 2) return false;
        for (const int side : {0, 1}) {
            const int product = maker(step(at).inputs[static_cast<std::size_t>(side)], "Linear");
            if (product < 0 || step(product).weights.size() != 1) continue;
            const int constant = row(step(at).inputs[static_cast<std::size_t>(1 - side)], {step(product).list[0]});
            if (constant < 0 || graph_.value(step(at).outputs[0]).sizes != graph_.value(step(product).outputs[0]).sizes) continue;
            step(product).weights.push_back({"bias", constant, {step(product).list[0]}, {}});
            ++graph_.lifted["Linear"];
            step(at).gone = true;
            graph_.replace(step(at).outputs[0], step(product).outputs[0]);
            return true;
        }
        return false;
    }

    /// Two orders of dimensions are one, or none.
    bool permutes(int at) {
        if (step(at).kind != "Permute") return false;
        const int before = graph_.value(step(at).inputs[0]).step;
        Dims order = step(at).list;
        if (before >= 0 && step(before).kind == "Permute" && !step(before).gone) {
            for (std::int64_t& each : order) each = step(before).list[static_cast<std::size_t>(each)];
            step(at).list = order;
            step(at).inputs = step(before).inputs;
            return true;
        }
        if (!std::ranges::is_sorted(order)) return false;
        step(at).gone = true;
        graph_.replace(step(at).outputs[0], step(at).inputs[0]);
        return true;
    }

    /// One place of dimensions in another order is that place in the first order.
    bool selected(int at) {
        if (step(at).kind != "Select") return false;
        const int before = graph_.value(step(at).inputs[0]).step;
        if (before < 0 || step(before).kind != "Permute" || step(before).gone) return false;
        const Dims order = step(before).list;
        const std::int64_t place = order[static_cast<std::size_t>(step(at).list[0])];
        Dims left;
        for (const std::int64_t each : order)
            if (each != place) left.push_back(each - (each > place));
        const std::string arguments = std::to_string(place) + ", " + std::to_string(step(at).list[1]);
        if (std::ranges::is_sorted(left)) {
            step(at).inputs = step(before).inputs;
            step(at).arguments = arguments;
            step(at).list[0] = place;
            return true;
        }
        return false;
    }

    bool layer_norm(int at) {
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

    bool normalised(int at, int ratio, int weight, int bias) {
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

    /// x / 2 * (1 + erf(x / sqrt(2))), in any order.
    bool normal_gelu(int at) {
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

    /// x times its sigmoid is SiLU, and times its hard sigmoid Hardswish.
    bool gated(int at) {
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

    /// x * relu6(x + 3) / 6, in any order; and relu6(x + 3) / 6 alone.
    bool hard_swish(int at) {
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

    /// The value N x T x F of which this one is N x heads x T x F/heads; -1: none. `scale` takes
    /// what it was multiplied with; `turned`: its last dimensions are exchanged.
    int by_heads(int value, bool turned, double& scale, std::int64_t& heads) {
        int at = graph_.value(value).step;
        while (at >= 0 && users(value).size() == 1 && (step(at).kind == "Mul" || step(at).kind == "Scale" || step(at).kind == "Div")) {
            const int side = step(at).kind == "Mul" && graph_.scalar(step(at).inputs[0]) ? 0 : 1;
            const auto factor = step(at).inputs.size() == 2 ? graph_.scalar(step(at).inputs[static_cast<std::size_t>(side)]) : std::nullopt;
            if (!factor || *factor == 0) return -1;
            scale *= step(at).kind == "Div" ? 1 / *factor : *factor;
            value = step(at).inputs[static_cast<std::size_t>(1 - side)];
            at = graph_.value(value).step;
        }
        if (at < 0 || step(at).kind != "Permute" || step(at).list != (turned ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3})) return -1;
        const int parted = graph_.value(step(at).inputs[0]).step;
        const Extents parts = graph_.value(step(at).inputs[0]).sizes;
        if (parted < 0 || parts.size() != 4 || !parts[2].is_number()) return -1;
        if (heads != 0 && heads != parts[2].number) return -1;
        heads = parts[2].number;
        if (step(parted).kind == "Reshape") {
            const int whole = step(parted).inputs[0];
            const Extents wanted = {parts[0], parts[1], {parts[2].number * parts[3].number}};
            return graph_.value(whole).sizes == wanted ? whole : -1;
        }
        return part_of(parted, parts);
    }

    /// q, k or v of one layer's N x T x 3F, taken apart as N x T x 3 x heads x F/heads.
    int part_of(int at, const Extents& parts) {
        if (step(at).kind != "Select" || step(at).list.size() != 2 || step(at).list[0] != 2) return -1;
        const int parted = graph_.value(step(at).inputs[0]).step;
        if (parted < 0 || step(parted).kind != "Reshape") return -1;
        const Extents five = graph_.value(step(at).inputs[0]).sizes;
        const int whole = step(parted).inputs[0];
        const std::int64_t width = parts[2].number * parts[3].number;
        if (five.size() != 5 || !five[2].is_number() || graph_.value(whole).sizes != Extents{parts[0], parts[1], {five[2].number * width}}) return -1;
        const std::int64_t place = step(at).list[1] < 0 ? step(at).list[1] + five[2].number : step(at).list[1];
        // The place of the layer that gave the Select stays; the split is a step of its own there.
        ImportedStep made = step(at);
        made.kind = "Split";
        made.arguments = "2, " + std::to_string(place) + ", " + std::to_string(five[2].number);
        made.inputs = {whole};
        made.list.clear();
        const int out = graph_.add_value({.sizes = {parts[0], parts[1], {width}}, .step = at});
        made.outputs = {out};
        pending_.emplace_back(at, std::move(made));
        return out;
    }

    /// softmax(q k' / sqrt(d)) v over heads.
    bool attention(int at) {
        if (step(at).kind != "MatMul") return false;
        pending_.clear();
        int weights = graph_.value(step(at).inputs[0]).step;
        if (weights < 0 || step(weights).kind != "Softmax" || users(step(at).inputs[0]).size() != 1 || step(weights).list != Dims{3}) return false;
        double scale = 1;
        int scores = step(weights).inputs[0], product = graph_.value(scores).step;
        while (product >= 0 && users(scores).size() == 1 && (step(product).kind == "Mul" || step(product).kind == "Div") && graph_.scalar(step(product).inputs[1])) {
            const double factor = *graph_.scalar(step(product).inputs[1]);
            if (factor == 0) return false;
            scale *= step(product).kind == "Div" ? 1 / factor : factor;
            scores = step(product).inputs[0];
            product = graph_.value(scores).step;
        }
        if (product < 0 || step(product).kind != "MatMul" || users(scores).size() != 1) return false;
        std::int64_t heads = 0;
        double unscaled = 1;
        const int q = by_heads(step(product).inputs[0], false, scale, heads), k = q < 0 ? -1 : by_heads(step(product).inputs[1], true, scale, heads);
        const int v = k < 0 ? -1 : by_heads(step(at).inputs[1], false, unscaled, heads);
        if (v < 0 || unscaled != 1) return false;
        const Extent width = graph_.value(q).sizes[2];
        const double usual = 1 / std::sqrt(static_cast<double>(width.number) / static_cast<double>(heads));
        if (!width.is_number() || std::fabs(scale - usual) > 1e-4 * usual) return false;
        // Back to N x T x F.
        const auto& turned = users(step(at).outputs[0]);
        if (turned.size() != 1 || turned[0] < 0 || step(turned[0]).kind != "Permute" || step(turned[0]).list != Dims{0, 2, 1, 3}) return false;
        const auto& joined = users(step(turned[0]).outputs[0]);
        if (joined.size() != 1 || joined[0] < 0 || step(joined[0]).kind != "Reshape") return false;
        const Extents result = {graph_.value(q).sizes[0], graph_.value(q).sizes[1], graph_.value(v).sizes[2]};
        if (graph_.value(step(joined[0]).outputs[0]).sizes != result) return false;
        for (auto& [place, split] : pending_) insert_split(place, std::move(split));
        become(joined[0], "Attention", std::to_string(heads), {q, k, v});
        return true;
    }

    /// The Select is of no more use behind the attention, so the split takes its place.
    void insert_split(int place, ImportedStep split) { step(place) = std::move(split); }

    /// A recurrent layer that takes another one's sequence alone is its next layer.
    bool stacked(int at) {
        static constexpr std::array kinds = {"LSTM", "GRU", "RNN"};
        if (std::ranges::find(kinds, step(at).kind) == kinds.end()) return false;
        const int value = step(at).inputs[0], below = graph_.value(value).step;
        if (below < 0 || step(below).kind != step(at).kind || step(below).gone || users(value).size() != 1 || value != step(below).outputs[0]) return false;
        ImportedStep& first = step(below);
        ImportedStep& second = step(at);
        if (first.list[0] != second.list[0] || first.list[2] != second.list[2] || first.list[3] != second.list[3] || second.list[1] != 1) return false;
        for (std::size_t i = 1; i < first.outputs.size(); ++i)
            if (!users(first.outputs[i]).empty()) return false;
        std::vector<ImportedWeight> all = first.weights;
        for (ImportedWeight each : second.weights) {
            const std::size_t place = each.role.find("_l0");
            each.role.replace(place, 3, "_l" + std::to_string(first.list[1]));
            all.push_back(std::move(each));
        }
        second.list[1] += first.list[1];
        second.weights = std::move(all);
        second.inputs = first.inputs;
        second.module = first.module;
        first.gone = true;
        return true;
    }

    /// A factor is a number of Scale.
    bool scaled(int at) {
        ImportedStep& of = step(at);
        if ((of.kind != "Mul" && of.kind != "Div") || of.inputs.size() != 2) return false;
        const int side = of.kind == "Mul" && graph_.scalar(of.inputs[0]) ? 0 : 1;
        const auto factor = graph_.scalar(of.inputs[static_cast<std::size_t>(side)]);
        const int other = of.inputs[static_cast<std::size_t>(1 - side)];
        if (!factor || *factor == 0 || graph_.value(other).is_constant() || graph_.value(other).sizes != graph_.value(of.outputs[0]).sizes) return false;
        of.arguments = number_text(of.kind == "Div" ? 1 / *factor : *factor);
        of.kind = "Scale";
        of.inputs = {other};
        return true;
    }

    void drop_unused() {
        bool changed = true;
        while (changed) {
            changed = false;
            users_ = graph_.users();
            for (ImportedStep& each : graph_.steps) {
                if (each.gone || std::ranges::any_of(each.outputs, [&](int out) { return !users(out).empty(); })) continue;
                each.gone = changed = true;
            }
        }
    }

    ImportedGraph& graph_;
    std::vector<std::vector<int>> users_;
    std::vector<std::pair<int, ImportedStep>> pending_;  // splits that an attention needs
};

}  // namespace

void lift(ImportedGraph& graph) { Lifter(graph).run(); }

}  // namespace engine::network
