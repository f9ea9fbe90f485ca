#include <algorithm>
#include <cmath>

#include "engine/record/twin.h"

namespace engine {

TwinDigest::TwinDigest(const std::vector<std::string>& layers) {
    for (const std::string& name : layers) layers_.push_back({.name = name, .rounding = {}});
}

void TwinDigest::add(const TwinRow& row) {
    if (row.step != step_) {  // the first layer of the next step
        fresh_ = step_ == 0 || resynced_;
        if (resynced_) begin_part(row.step);
        step_ = row.step;
        resynced_ = row.resynced;
    }
    if (identical_ && (row.error != 0 || row.skipped)) {
        identical_ = false;
        first_difference_ = row;
    }
    if (row.skipped || std::isnan(row.error)) return;
    TwinLayer& layer = layers_[static_cast<std::size_t>(row.layer)];
    layer.error = row.error;
    layer.angle = row.angle;
    if (fresh_) layer.rounding = row.error;
    layer.above = row.error > limit ? layer.above + 1 : 0;
    if (layer.above == lasting && layer.diverged == 0) layer.diverged = row.step - lasting + 1;
}

void TwinDigest::begin_part(std::int64_t step) {
    const auto before = static_cast<std::ptrdiff_t>(earlier_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i].diverged > 0) earlier_.push_back({i, layers_[i].diverged});
        layers_[i].diverged = layers_[i].above = 0;
    }
    std::ranges::stable_sort(earlier_.begin() + before, earlier_.end(), {}, &TwinMark::step);
    part_begins_ = step;
}

std::optional<std::size_t> TwinDigest::first_to_diverge() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const std::int64_t at = layers_[i].diverged;
        if (at > 0 && (!first || at < layers_[*first].diverged)) first = i;
    }
    return first;
}

}  // namespace engine
