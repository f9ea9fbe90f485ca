#pragma once

#include <string>
#include <vector>

#include "engine/number/axis.h"

namespace engine {

/// A curve reduced to pixels: for each column the smallest and largest value of its steps, so that
/// a single step always shows.
class PlotCurve {
public:
    static constexpr int columns = 860;

    /// `steps`: of the longest run in the plot.
    PlotCurve(std::string name, std::string color, std::int64_t steps);
    void add(std::int64_t step, double value);

    struct Column {
        double lowest = 0, highest = 0;
        bool any = false;         ///< a finite value
        bool not_finite = false;  ///< a value that was NaN or infinite
    };
    const std::string& name() const { return name_; }
    const std::string& color() const { return color_; }
    const std::vector<Column>& all() const { return columns_; }

private:
    std::string name_, color_;
    double per_step_;
    std::vector<Column> columns_;
};

struct PlotLook {
    AxisKind axis = AxisKind::linear;
    bool staircase = false;  ///< holds its value until the next one
    /// Steps marked on the axis.
    std::vector<std::int64_t> ticks = {};
};

/// An SVG document of 1000 x 320. `steps`: where the x axis ends.
std::string svg_plot(const std::vector<PlotCurve>& curves, std::int64_t steps,
                     const PlotLook& look);

}  // namespace engine
