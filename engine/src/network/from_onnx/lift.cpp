#include <algorithm>
#include <cmath>

#include "network/from_onnx/operator_call.h"
#include "network/from_onnx/views.h"

/// Layers that exporters take apart are put together again, where nothing else takes what is between.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;

class Lifter {
public:
    explicit Lifter(ImportedGraph& graph) : graph_(graph) {}

    void run() {
        // Later layers lean on those that are lifted before them.
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) graph_.steps[i].order = static_cast<double>(i);
        drop_unused();
        for (bool (Lifter::*rule)(int) : {&Lifter::bias, &Lifter::joined_rows, &Lifter::same_shape_again, &Lifter::permutes, &Lifter::turned_rows, &Lifter::permutes, &Lifter::selected,
                                          &Lifter::layer_norm, &Lifter::normal_gelu, &Lifter::gated, &Lifter::hard_swish, &Lifter::dropout, &Lifter::attention, &Lifter::turned_rows, &Lifter::permutes}) {
            apply(rule);
            if (rule == &Lifter::attention) drop_unused();
        }
        apply(&Lifter::multihead);
        apply(&Lifter::stacked);
        apply(&Lifter::scaled);
        drop_unused();
        sort_steps();
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
                    note_user(at);
                }
        }
    }

    /// Between two passes a value may have a user too many, which only puts a rule off.
    void note_user(int at) {
        users_.resize(graph_.values.size());
        for (const int input : step(at).inputs)
            if (auto& list = users_[static_cast<std::size_t>(input)]; list.empty() || list.back() != at) list.push_back(at);
    }
    void replace(int old, int now) {
        graph_.replace(old, now);
        users_.resize(graph_.values.size());
        auto& moved = users_[static_cast<std::size_t>(old)];
        auto& list = users_[static_cast<std::size_t>(now)];
        list.insert(list.end(), moved.begin(), moved.end());
        moved.clear();
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
        note_user(at);
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
            replace(step(at).outputs[0], step(product).outputs[0]);
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
        replace(step(at).outputs[0], step(at).inputs[0]);
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

    /// x times 1 / share where a random number is below the share, else 0.
    bool dropout(int at) {
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

    /// Adds a step at the place of another one, before or behind it.
    int insert(int at, bool behind, ImportedStep made, Extents sizes) {
        made.order = step(at).order + (behind ? 0.5 : -0.5);
        made.module = step(at).module;
        made.node = step(at).node;
        made.op = step(at).op;
        const int out = graph_.add_step(std::move(made), std::move(sizes));
        note_user(static_cast<int>(graph_.steps.size()) - 1);
        return out;
    }

    /// The features of all heads, N x T x F, of a value whose dimensions are N, heads, T, F/heads in
    /// this order of `order`; -1: it is no such view.
    struct Heads {
        int base = -1;
        int axes[3] = {0, 0, 0};  ///< of N, T and F
        std::int64_t offset = 0, heads = 1, features = 0;
        double scale = 1;
    };
    std::optional<Heads> heads_of(int value, bool turned) {
        if (rank(value) != 4) return {};
        const auto view = view_of(graph_, value, true);
        if (!view || rank(view->base) != 3) return {};
        const auto &n = view->dims[0], &h = view->dims[1], &t = view->dims[turned ? 3 : 2], &f = view->dims[turned ? 2 : 3];
        if (n.size() != 1 || t.size() != 1 || f.size() != 1 || h.size() > 1 || !f[0].size.is_number() || n[0].stride != 1 || t[0].stride != 1 || f[0].stride != 1) return {};
        Heads out{.base = view->base, .axes = {n[0].axis, t[0].axis, f[0].axis}, .scale = view->scale};
        if (!h.empty()) {
            if (h[0].axis != f[0].axis || h[0].stride != f[0].size.number || !h[0].size.is_number()) return {};
            out.heads = h[0].size.number;
        }
        out.features = out.heads * f[0].size.number;
        const Extents& sizes = graph_.value(view->base).sizes;
        const auto whole = [&](const ViewPart& part) { return sizes[static_cast<std::size_t>(part.axis)] == part.size; };
        if (!whole(n[0]) || !whole(t[0]) || n[0].axis == t[0].axis || n[0].axis == f[0].axis || t[0].axis == f[0].axis) return {};
        for (const auto& [axis, offset] : view->offsets) {
            if (axis == f[0].axis) out.offset = offset;
            else if (offset != 0) return {};
        }
        return out;
    }

    /// N x T x F of the heads.
    int joined_heads(int at, const Heads& heads) {
        int value = heads.base;
        const Extents sizes = graph_.value(value).sizes;
        const Dims order = {heads.axes[0], heads.axes[1], heads.axes[2]};
        Extents turned;
        for (const std::int64_t each : order) turned.push_back(sizes[static_cast<std::size_t>(each)]);
        if (!std::ranges::is_sorted(order)) value = insert(at, false, {.kind = "Permute", .inputs = {value}, .list = order}, turned);
        const std::int64_t all = turned[2].number;
        if (all == heads.features) return value;
        turned[2] = {heads.features};
        const Dims range = {2, heads.offset, heads.offset + heads.features, 1};
        if (all % heads.features == 0 && heads.offset % heads.features == 0)
            return insert(at, false, {.kind = "Split", .arguments = "2, " + std::to_string(heads.offset / heads.features) + ", " + std::to_string(all / heads.features), .inputs = {value}, .list = range}, turned);
        return insert(at, false, {.kind = "Slice", .arguments = "2, " + std::to_string(range[1]) + ", " + std::to_string(range[2]), .inputs = {value}, .list = range}, turned);
    }

    /// softmax(q k' / sqrt(d)) v over heads.
    bool attention(int at) {
        if (step(at).kind != "MatMul") return false;
        const int weights = graph_.value(step(at).inputs[0]).step;
        if (weights < 0 || step(weights).kind != "Softmax" || step(weights).list != Dims{3}) return false;
        const auto scores = view_of(graph_, step(weights).inputs[0], true);
        if (!scores || scores->dims != whole_view(graph_, scores->base).dims) return false;
        const int product = graph_.value(scores->base).step;
        if (product < 0 || step(product).kind != "MatMul" || step(product).gone) return false;
        const auto q = heads_of(step(product).inputs[0], false), k = heads_of(step(product).inputs[1], true), v = heads_of(step(at).inputs[1], false);
        if (!q || !k || !v || q->heads != k->heads || q->heads != v->heads || v->scale != 1) return false;
        const double usual = 1 / std::sqrt(static_cast<double>(q->features) / static_cast<double>(q->heads)), scale = scores->scale * q->scale * k->scale;
        if (std::fabs(scale - usual) > 1e-4 * usual) return false;
        // Back to N x T x F, or T x N x F.
        ImportedView view = whole_view(graph_, step(at).outputs[0]);
        const auto whole = view.dims;
        std::vector<ViewPart> features = whole[1];
        features.insert(features.end(), whole[3].begin(), whole[3].end());
        for (int last = at; users(step(last).outputs[0]).size() == 1;) {
            last = users(step(last).outputs[0])[0];
            if (last < 0 || !move_view(graph_, step(last), view)) return false;
            if (view.dims.size() != 3 || view.dims[2] != features) continue;
            const bool turned = view.dims[0] == whole[2] && view.dims[1] == whole[0];
            if (!turned && (view.dims[0] != whole[0] || view.dims[1] != whole[2])) continue;
            const std::vector<int> inputs = {joined_heads(last, *q), joined_heads(last, *k), joined_heads(last, *v)};
            const Extents sizes = graph_.value(step(last).outputs[0]).sizes;
            if (!turned) {
                become(last, "Attention", std::to_string(q->heads), inputs);
                return true;
            }
            const int made = insert(last, false, {.kind = "Attention", .arguments = std::to_string(q->heads), .inputs = inputs}, {sizes[1], sizes[0], sizes[2]});
            become(last, "Permute", "", {made});
            step(last).list = {1, 0, 2};
            --graph_.lifted["Permute"];
            std::erase_if(graph_.lifted, [](const auto& each) { return each.second == 0; });
            ++graph_.lifted["Attention"];
            return true;
        }
        return false;
    }

    /// One projection to queries, keys and values, and one behind the attention.
    bool multihead(int at) {
        if (step(at).kind != "Linear" || step(at).weights.size() != 2) return false;
        const int middle = maker(step(at).inputs[0], "Attention");
        if (middle < 0 || step(middle).inputs.size() != 3) return false;
        int projection = -1;
        const std::int64_t width = step(at).list[0];
        for (std::size_t i = 0; i < 3; ++i) {
            const int part = maker(step(middle).inputs[i], "Split");
            if (part < 0 || step(part).arguments != "2, " + std::to_string(i) + ", 3") return false;
            const int before = graph_.value(step(part).inputs[0]).step;
            if (before < 0 || (i > 0 && before != projection)) return false;
            projection = before;
        }
        if (step(projection).kind != "Linear" || step(projection).weights.size() != 2 || users(step(projection).outputs[0]).size() != 3 || step(projection).list[0] != 3 * width) return false;
        const int x = step(projection).inputs[0];
        const std::string& name = graph_.constant(step(at).weights[0].constant).name;
        const bool named = name.ends_with(".out_proj.weight") || step(at).module.ends_with(".out_proj") || step(projection).module == step(at).module;
        if (!named || graph_.value(x).sizes.back() != Extent{width}) return false;
        std::vector<ImportedWeight> weights = step(projection).weights, out = step(at).weights;
        weights[0].role = "in_proj_weight";
        weights[1].role = "in_proj_bias";
        out[0].role = "out_proj.weight";
        out[1].role = "out_proj.bias";
        weights.insert(weights.end(), out.begin(), out.end());
        step(projection).gone = true;
        become(at, "MultiheadAttention", step(middle).arguments, {x});
        if (step(at).module.ends_with(".out_proj")) step(at).module.resize(step(at).module.size() - 9);
        step(at).weights = std::move(weights);
        return true;
    }

    /// A linear layer on the rows of several dimensions, joined and parted again.
    bool joined_rows(int at) {
        if (step(at).kind != "Linear" || rank(step(at).outputs[0]) != 2) return false;
        const int before = maker(step(at).inputs[0], "Reshape");
        const auto& after = users(step(at).outputs[0]);
        if (before < 0 || after.size() != 1 || after[0] < 0 || step(after[0]).kind != "Reshape") return false;
        Extents sizes = graph_.value(step(after[0]).outputs[0]).sizes;
        if (sizes.size() != 3 || sizes.back() != Extent{step(at).list[0]}) return false;
        const int behind = after[0];
        Extents& in = graph_.value(step(before).outputs[0]).sizes;
        in = {sizes[0], sizes[1], in.back()};
        graph_.value(step(at).outputs[0]).sizes = sizes;
        step(behind).gone = true;
        replace(step(behind).outputs[0], step(at).outputs[0]);
        return true;
    }

    /// A linear layer on values in another order gives its own in that order.
    bool turned_rows(int at) {
        if (step(at).kind != "Linear" || step(at).inputs.empty()) return false;
        const int before = maker(step(at).inputs[0], "Permute");
        if (before < 0 || step(before).list != Dims{1, 0, 2}) return false;
        const Extents sizes = graph_.value(step(at).outputs[0]).sizes;
        const int old = step(at).outputs[0], own = graph_.add_value({.sizes = {sizes[1], sizes[0], sizes[2]}, .step = at});
        users_.resize(graph_.values.size());
        step(at).outputs[0] = own;
        step(at).inputs = step(before).inputs;
        step(before).gone = true;
        const int made = insert(at, true, {.kind = "Permute", .inputs = {own}, .list = {1, 0, 2}}, sizes);
        replace(old, made);
        return true;
    }

    /// A reshape that changes nothing any more.
    bool same_shape_again(int at) {
        if (step(at).kind != "Reshape" || graph_.value(step(at).inputs[0]).sizes != graph_.value(step(at).outputs[0]).sizes) return false;
        step(at).gone = true;
        replace(step(at).outputs[0], step(at).inputs[0]);
        return true;
    }

    void sort_steps() {
        std::vector<std::size_t> places(graph_.steps.size());
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
        std::ranges::stable_sort(places, {}, [&](std::size_t i) { return graph_.steps[i].order; });
        std::vector<int> now(places.size());
        std::vector<ImportedStep> sorted;
        for (const std::size_t place : places) {
            now[place] = static_cast<int>(sorted.size());
            sorted.push_back(std::move(graph_.steps[place]));
        }
        graph_.steps = std::move(sorted);
        for (ImportedValue& value : graph_.values)
            if (value.step >= 0) value.step = now[static_cast<std::size_t>(value.step)];
    }

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
};

}  // namespace

void lift(ImportedGraph& graph) { Lifter(graph).run(); }

}  // namespace engine::network
