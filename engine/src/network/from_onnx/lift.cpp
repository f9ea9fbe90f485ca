#include <algorithm>
#include <array>
#include <cmath>

#include "network/from_onnx/lifter.h"
#include "network/from_onnx/operator_call.h"

namespace engine::network {

void Lifter::run() {
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

void Lifter::apply(bool (Lifter::*rule)(int)) {
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

void Lifter::note_user(int at) {
    users_.resize(graph_.values.size());
    for (const int input : step(at).inputs)
        if (auto& list = users_[static_cast<std::size_t>(input)]; list.empty() || list.back() != at) list.push_back(at);
}

void Lifter::replace(int old, int now) {
    graph_.replace(old, now);
    users_.resize(graph_.values.size());
    auto& moved = users_[static_cast<std::size_t>(old)];
    auto& list = users_[static_cast<std::size_t>(now)];
    list.insert(list.end(), moved.begin(), moved.end());
    moved.clear();
}

int Lifter::maker(int value, const char* kind) {
    const int at = graph_.value(value).step;
    return at >= 0 && !step(at).gone && step(at).kind == kind && step(at).outputs.size() == 1 && users(value).size() == 1 ? at : -1;
}

bool Lifter::is(int value, double number) {
    const auto found = graph_.scalar(value);
    return found && std::fabs(*found - number) < 1e-4 * std::max(1.0, std::fabs(number));
}

int Lifter::beside(int at, double number) {
    const ImportedStep& of = step(at);
    if (of.inputs.size() != 2) return -1;
    if (is(of.inputs[1], number)) return of.inputs[0];
    return of.kind != "Div" && of.kind != "Sub" && is(of.inputs[0], number) ? of.inputs[1] : -1;
}

int Lifter::row(int value, const Extent& count) {
    const ImportedValue& of = graph_.value(value);
    if (of.constant < 0 || !graph_.constant(of.constant).real || of.fill) return -1;
    const ImportedConstant& constant = graph_.constant(of.constant);
    return !constant.dims.empty() && constant.dims.back() == constant.count() && Extent{constant.count()} == count ? of.constant : -1;
}

void Lifter::become(int at, const std::string& kind, const std::string& arguments, std::vector<int> inputs) {
    ImportedStep& made = step(at);
    made.kind = kind;
    made.arguments = arguments;
    made.inputs = std::move(inputs);
    made.list.clear();
    ++graph_.lifted[kind];
    note_user(at);
}

bool Lifter::bias(int at) {
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

bool Lifter::permutes(int at) {
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

bool Lifter::selected(int at) {
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

bool Lifter::joined_rows(int at) {
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

bool Lifter::turned_rows(int at) {
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

bool Lifter::same_shape_again(int at) {
    if (step(at).kind != "Reshape" || graph_.value(step(at).inputs[0]).sizes != graph_.value(step(at).outputs[0]).sizes) return false;
    step(at).gone = true;
    replace(step(at).outputs[0], step(at).inputs[0]);
    return true;
}

void Lifter::sort_steps() {
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

bool Lifter::stacked(int at) {
    static constexpr std::array kinds = {"LSTM", "GRU", "RNN"};
    if (std::ranges::find(kinds, step(at).kind) == kinds.end()) return false;
    const int value = step(at).inputs[0], below = graph_.value(value).step;
    if (below < 0 || step(below).kind != step(at).kind || step(below).gone || users(value).size() != 1 || value != step(below).outputs[0]) return false;
    ImportedStep& first = step(below);
    ImportedStep& second = step(at);
    if (first.list[0] != second.list[0] || first.list[2] != second.list[2] || first.list[3] != second.list[3] || first.list[4] != second.list[4] || second.list[1] != 1) return false;
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

bool Lifter::scaled(int at) {
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

void Lifter::drop_unused() {
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

void lift(ImportedGraph& graph) { Lifter(graph).run(); }

}  // namespace engine::network
