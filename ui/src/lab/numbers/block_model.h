#pragma once

#include <QObject>
#include <vector>

#include "engine/number/number_block.h"

namespace ui {

/// Numbers that share scales, as the Numbers view shows them, and the one that is selected. GUI
/// thread.
class BlockModel final : public QObject {
    Q_OBJECT
public:
    static constexpr int count = 32;
    /// Exponents that a number may have.
    static constexpr double least = -16, most = 20;

    explicit BlockModel(QObject* parent = nullptr);

    engine::BlockKind kind() const { return settings_.kind; }
    const std::vector<double>& numbers() const { return numbers_; }
    const engine::NumberBlocks& blocks() const { return blocks_; }
    const engine::BlockElement& element(int index) const;
    const engine::NumberBlock& block(int index) const;
    int selected() const { return selected_; }
    /// Elements that became 0.
    int zeroed() const;
    /// The selected number rounded at random to the two values beside it.
    engine::RandomRounding atRandom(std::int64_t draws) const;

    void setKind(engine::BlockKind kind);
    void select(int index);
    /// Sets the magnitude of the selected number; its sign stays.
    void setExponent(double exponent);
    void flipSign();
    /// The numbers that the view begins with.
    void reset();

signals:
    void changed();

private:
    std::size_t place(int index) const;
    void quantize();

    engine::BlockSettings settings_;
    std::vector<double> numbers_;
    engine::NumberBlocks blocks_;
    int selected_ = 5;
};

}  // namespace ui
