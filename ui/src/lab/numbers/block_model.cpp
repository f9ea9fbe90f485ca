#include "lab/numbers/block_model.h"

#include <algorithm>
#include <cmath>

namespace ui {

BlockModel::BlockModel(QObject* parent) : QObject(parent) { reset(); }

/// Magnitudes around 1, as those of a layer's values are.
void BlockModel::reset() {
    numbers_.clear();
    for (int i = 0; i < count; ++i) {
        const double size = std::exp2(1.6 * std::sin(2.4 * i) - 0.7) * (1 + i % 5 / 8.0);
        numbers_.push_back((i % 3 == 1 ? -1 : 1) * std::round(size * 64) / 64);
    }
    quantize();
}

void BlockModel::quantize() {
    blocks_ = engine::quantize_blocks(numbers_, settings_);
    emit changed();
}

std::size_t BlockModel::place(int index) const {
    return static_cast<std::size_t>(index) / engine::block_size(settings_.kind);
}

const engine::NumberBlock& BlockModel::block(int index) const {
    return blocks_.blocks[place(index)];
}

const engine::BlockElement& BlockModel::element(int index) const {
    return block(index)
        .elements[static_cast<std::size_t>(index) % engine::block_size(settings_.kind)];
}

int BlockModel::zeroed() const {
    int out = 0;
    for (int i = 0; i < count; ++i) out += element(i).zeroed ? 1 : 0;
    return out;
}

engine::RandomRounding BlockModel::atRandom(std::int64_t draws) const {
    const double scaled = numbers_[static_cast<std::size_t>(selected_)] * block(selected_).factor;
    return round_at_random(engine::block_format(settings_.kind), scaled, draws);
}

void BlockModel::setKind(engine::BlockKind kind) {
    settings_.kind = kind;
    quantize();
}

void BlockModel::select(int index) {
    const int to = std::clamp(index, 0, count - 1);
    if (to == selected_) return;
    selected_ = to;
    emit changed();
}

void BlockModel::setExponent(double exponent) {
    double& number = numbers_[static_cast<std::size_t>(selected_)];
    const double size = std::exp2(std::clamp(exponent, least, most));
    number = std::copysign(QString::number(size, 'g', 3).toDouble(), number);
    quantize();
}

void BlockModel::flipSign() {
    double& number = numbers_[static_cast<std::size_t>(selected_)];
    number = -number;
    quantize();
}

}  // namespace ui
