#pragma once

#include "network/from_onnx/imported_graph.h"

namespace engine::network {

/// Elements of an axis: `size` of them, `stride` apart.
struct ViewPart {
    int axis = 0;
    std::int64_t stride = 1;
    Extent size{};

    friend bool operator==(const ViewPart&, const ViewPart&) = default;
};

/// A value whose elements are those of another one in another place: each dimension has parts of that
/// one's axes, the outer ones first.
struct ImportedView {
    int base = -1;
    std::vector<std::vector<ViewPart>> dims{};
    std::map<int, std::int64_t> offsets{};  ///< by axis
    double scale = 1;                       ///< that the elements are multiplied with
};

/// The value as its own view.
ImportedView whole_view(const ImportedGraph& graph, int value);
/// The view behind a step that moves elements. False: it does another thing.
bool move_view(const ImportedGraph& graph, const ImportedStep& step, ImportedView& view);
/// The value as a view of the one that was computed last; with factors only if `scaled`.
std::optional<ImportedView> view_of(ImportedGraph& graph, int value, bool scaled);

}  // namespace engine::network
