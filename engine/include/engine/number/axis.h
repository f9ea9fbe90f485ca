#pragma once

#include <string>
#include <vector>

namespace engine {

/// How an axis counts.
enum class AxisKind {
    linear,
    log,    ///< 0.2, 0.5, 1, 2, 5; 10⁻⁸ where it spans more than four decades
    log2,   ///< powers of two: 2¹⁶
    share,  ///< 0 to 1 as percent
    whole,  ///< whole numbers alone
    bytes,
    steps,  ///< whole numbers; in millions where neighbours would touch
    time,   ///< seconds, from a minute on as 1:30 and from an hour on as 1:30:00
};

struct AxisRange {
    double low = 0, high = 1;
};

/// The axis of a chart. The window, its pictures and the reports take ticks and places from it.
struct Axis {
    AxisKind kind = AxisKind::linear;
    AxisRange range;

    bool is_log() const { return kind == AxisKind::log || kind == AxisKind::log2; }
    /// The place of a value: 0 at the lower end of the range, 1 at the upper one.
    double place(double value) const;

    struct Tick {
        double at = 0;
        std::string text;
    };
    /// At most `most` ticks within the range, and at most six at equal distances.
    std::vector<Tick> ticks(int most = 6) const;
};

/// The axis with the smallest round range that holds [low, high]; a default one if they are not
/// usable (NaN, or nothing positive on a logarithmic axis).
Axis round_axis(double low, double high, AxisKind kind);

}  // namespace engine
