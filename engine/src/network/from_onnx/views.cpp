#include "network/from_onnx/views.h"

namespace engine::network {
namespace {

/// Parts of all dimensions, joined and divided anew for these sizes.
bool reshape_view(ImportedView& view, const Extents& sizes) {
    std::vector<ViewPart> left;
    for (auto dim = view.dims.rbegin(); dim != view.dims.rend(); ++dim) left.insert(left.end(), dim->rbegin(), dim->rend());
    std::vector<std::vector<ViewPart>> out;
    for (Extent need : sizes) {
        auto& parts = out.emplace_back();
        while (need != Extent{1}) {
            if (left.empty()) return false;
            ViewPart& next = left.back();
            if (!next.size.is_number()) {
                if (need.symbol != next.size.symbol || next.size.number != 1) return false;
                need.symbol = Size::Symbol::none;
            } else if (need.number % next.size.number == 0) {
                need.number /= next.size.number;
            } else if (need.is_number() && next.size.number % need.number == 0) {
                const std::int64_t inner = next.size.number / need.number;
                parts.push_back({next.axis, next.stride * inner, need});
                next.size.number = inner;
                break;
            } else {
                return false;
            }
            parts.push_back(next);
            left.pop_back();
        }
    }
    view.dims = std::move(out);
    return left.empty();
}

/// Takes of a dimension the elements from `start` on.
bool slice_view(ImportedView& view, std::size_t dim, std::int64_t start, std::int64_t size) {
    auto& parts = view.dims[dim];
    if (parts.empty()) return start == 0;
    if (parts.size() != 1 || !parts[0].size.is_number()) return false;
    view.offsets[parts[0].axis] += start * parts[0].stride;
    parts[0].size.number = size;
    if (size == 1) parts.clear();
    return true;
}

/// The side of a product or quotient with a number that is none.
std::optional<std::size_t> factor_side(ImportedGraph& graph, const ImportedStep& step) {
    if ((step.kind != "Mul" && step.kind != "Div") || step.inputs.size() != 2) return {};
    if (graph.scalar(step.inputs[1])) return 0;
    if (step.kind == "Mul" && graph.scalar(step.inputs[0])) return 1;
    return {};
}

}  // namespace

ImportedView whole_view(const ImportedGraph& graph, int value) {
    ImportedView out{.base = value};
    const Extents& sizes = graph.value(value).sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        out.dims.emplace_back();
        if (sizes[i] != Extent{1}) out.dims.back().push_back({static_cast<int>(i), 1, sizes[i]});
    }
    return out;
}

bool move_view(const ImportedGraph& graph, const ImportedStep& step, ImportedView& view) {
    if (step.kind == "Reshape") return reshape_view(view, graph.value(step.outputs[0]).sizes);
    if (step.kind == "Permute") {
        std::vector<std::vector<ViewPart>> out;
        for (const std::int64_t each : step.list) out.push_back(view.dims[static_cast<std::size_t>(each)]);
        view.dims = std::move(out);
        return true;
    }
    if (step.list.empty()) return false;
    const auto dim = static_cast<std::size_t>(step.list[0]);
    if (step.kind == "Select") {
        const Extent size = graph.value(step.inputs[0]).sizes[dim];
        if (!size.is_number() || !slice_view(view, dim, step.list[1] < 0 ? step.list[1] + size.number : step.list[1], 1)) return false;
        view.dims.erase(view.dims.begin() + static_cast<std::ptrdiff_t>(dim));
        return true;
    }
    if ((step.kind == "Slice" || step.kind == "Split") && step.list.size() == 4 && step.list[3] == 1)
        return slice_view(view, dim, step.list[1], step.list[2] - step.list[1]);
    return false;
}

std::optional<ImportedView> view_of(ImportedGraph& graph, int value, bool scaled) {
    std::vector<int> steps;
    double scale = 1;
    while (true) {
        const int at = graph.value(value).step;
        if (at < 0 || graph.step(at).gone || graph.step(at).outputs.size() != 1) break;
        const ImportedStep& step = graph.step(at);
        static const std::set<std::string> moves = {"Reshape", "Permute", "Select", "Slice", "Split"};
        if (moves.contains(step.kind)) {
            steps.push_back(at);
            value = step.inputs[0];
        } else if (const auto side = factor_side(graph, step); scaled && side && graph.value(step.inputs[*side]).sizes == graph.value(value).sizes) {
            const double factor = *graph.scalar(step.inputs[1 - *side]);
            if (factor == 0) return {};
            scale *= step.kind == "Div" ? 1 / factor : factor;
            value = step.inputs[*side];
        } else {
            break;
        }
    }
    ImportedView out = whole_view(graph, value);
    out.scale = scale;
    for (auto at = steps.rbegin(); at != steps.rend(); ++at)
        if (!move_view(graph, graph.step(*at), out)) return {};
    return out;
}

}  // namespace engine::network
