#include <algorithm>
#include <cmath>

#include "network/from_onnx/lifter.h"
#include "network/from_onnx/views.h"

namespace engine::network {

int Lifter::insert(int at, bool behind, ImportedStep made, Extents sizes) {
    made.order = step(at).order + (behind ? 0.5 : -0.5);
    made.module = step(at).module;
    made.node = step(at).node;
    made.op = step(at).op;
    const int out = graph_.add_step(std::move(made), std::move(sizes));
    note_user(static_cast<int>(graph_.steps.size()) - 1);
    return out;
}

std::optional<Lifter::Heads> Lifter::heads_of(int value, bool turned) {
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

int Lifter::joined_heads(int at, const Heads& heads) {
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

bool Lifter::attention(int at) {
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

bool Lifter::multihead(int at) {
    if (step(at).kind != "Linear") return false;
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
    if (step(projection).kind != "Linear" || users(step(projection).outputs[0]).size() != 3 || step(projection).list[0] != 3 * width) return false;
    const int x = step(projection).inputs[0];
    const std::string& name = graph_.constant(step(at).weights[0].constant).name;
    const bool named = name.ends_with(".out_proj.weight") || step(at).module.ends_with(".out_proj") || step(projection).module == step(at).module;
    if (!named || graph_.value(x).sizes.back() != Extent{width}) return false;
    std::vector<ImportedWeight> weights = step(projection).weights, out = step(at).weights;
    for (auto* list : {&weights, &out}) {
        if (list->size() == 2) continue;
        // Exporters leave a bias of zeros out, which this layer always has.
        const std::int64_t count = list->front().sizes[0];
        graph_.constants.push_back({.dims = {count}, .numbers = std::vector<float>(static_cast<std::size_t>(count))});
        list->push_back({"bias", static_cast<int>(graph_.constants.size()) - 1, {count}, {}});
    }
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

}  // namespace engine::network
