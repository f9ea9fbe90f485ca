#include "report/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/plain_text.h"
#include "engine/base/table.h"

namespace engine {
namespace {

constexpr double left = 80, right = 940, top = 14, bottom = 276;
constexpr double width = 1000, height = 320;

std::string number(double value) { return number_text("%.2f", value); }

/// The plot as it is drawn.
class Drawing {
public:
    Drawing(const std::vector<PlotCurve>& curves, std::int64_t steps, const PlotLook& look)
        : curves_(curves), steps_(std::max<std::int64_t>(steps, 1)), look_(look) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const PlotCurve& curve : curves) {
            for (const auto& column : curve.all()) {
                if (!fits(column)) continue;
                low = std::min(low, column.lowest);
                high = std::max(high, column.highest);
            }
        }
        empty_ = low > high;
        axis_ = round_axis(low, high, look.axis);
    }

    std::string svg() {
        out_ =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 320\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#555\">";
        out_ += "<rect x=\"0\" y=\"0\" width=\"" + number(width) + "\" height=\"" + number(height) +
                "\" fill=\"#fff\"/>";
        draw_y_axis();
        draw_x_axis();
        for (const PlotCurve& curve : curves_) draw(curve);
        draw_ticks();
        draw_legend();
        return out_ + "</svg>";
    }

private:
    bool fits(const PlotCurve::Column& column) const {
        return column.any && (column.lowest > 0 || !Axis{look_.axis, {}}.is_log());
    }
    double y(double value) const { return bottom - axis_.place(value) * (bottom - top); }
    double x_of_step(double step) const {
        return left + step / static_cast<double>(steps_) * (right - left);
    }
    static double x_of_column(std::size_t column) {
        return left + (static_cast<double>(column) + 0.5) / PlotCurve::columns * (right - left);
    }

    void line(double x1, double y1, double x2, double y2, const char* color, double stroke) {
        out_ += "<path d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " +
                number(y2) + "\" stroke=\"" + color + "\" stroke-width=\"" + number(stroke) +
                "\" fill=\"none\"/>";
    }
    void text(double x, double y_, const char* anchor, const std::string& words,
              const std::string& color = "#555") {
        out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y_) + "\" text-anchor=\"" + anchor +
                "\" fill=\"" + color + "\">" + html_text(words) + "</text>";
    }

    void draw_y_axis() {
        if (empty_) return;  // of no values there is no range
        for (const auto& tick : axis_.ticks(9)) {
            line(left, y(tick.at), right, y(tick.at), "#e4e4e4", 1);
            text(left - 8, y(tick.at) + 4, "end", tick.text);
        }
    }
    void draw_x_axis() {
        line(left, bottom, right, bottom, "#999", 1);
        for (const auto& tick : Axis{AxisKind::steps, {0, static_cast<double>(steps_)}}.ticks()) {
            line(x_of_step(tick.at), bottom, x_of_step(tick.at), bottom + 4, "#999", 1);
            text(x_of_step(tick.at), bottom + 20, "middle", tick.text);
        }
        text(right + 8, bottom + 20, "start", "step");
    }

    /// A band between the extremes of each column, closed to a line where they are the same.
    void draw(const PlotCurve& curve) {
        std::string path;
        double last = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < curve.all().size(); ++i) {
            const auto& column = curve.all()[i];
            if (!fits(column)) continue;
            const double high = y(column.highest), low = y(column.lowest);
            const std::string x = number(x_of_column(i));
            const bool begins = std::isnan(last);
            const bool from_low = !begins && std::abs(last - low) < std::abs(last - high);
            if (look_.staircase && !begins) path += "L" + x + " " + number(last);
            path += (begins ? "M" : "L") + x + " " + number(from_low ? low : high);
            if (low != high) path += "L" + x + " " + number(from_low ? high : low);
            last = from_low ? high : low;
        }
        out_ += "<path d=\"" + path + "\" stroke=\"" + curve.color() +
                "\" stroke-width=\"1.4\" stroke-linejoin=\"round\" fill=\"none\"/>";
        for (std::size_t i = 0; i < curve.all().size(); ++i) {
            if (!curve.all()[i].not_finite) continue;
            const double x = x_of_column(i);
            line(x - 3, top, x + 3, top + 6, "#b3261e", 1.4);
            line(x - 3, top + 6, x + 3, top, "#b3261e", 1.4);
        }
    }
    void draw_ticks() {
        double before = -10;
        for (const std::int64_t step : look_.ticks) {
            const double x = x_of_step(static_cast<double>(step));
            if (x - before < 0.5) continue;  // on the same pixel
            line(x, bottom, x, bottom - 9, "#b3261e", 1.2);
            before = x;
        }
    }
    void draw_legend() {
        double x = left;
        for (const PlotCurve& curve : curves_) {
            line(x, height - 12, x + 22, height - 12, curve.color().c_str(), 2.5);
            text(x + 28, height - 8, "start", curve.name(), "#222");
            x += 60 + 8.0 * static_cast<double>(curve.name().size());
        }
        if (look_.ticks.empty()) return;
        line(x + 11, height - 17, x + 11, height - 8, "#b3261e", 1.2);
        text(x + 28, height - 8, "start", "skipped", "#222");
    }

    const std::vector<PlotCurve>& curves_;
    std::int64_t steps_;
    const PlotLook& look_;
    Axis axis_;
    bool empty_ = false;
    std::string out_;
};

}  // namespace

PlotCurve::PlotCurve(std::string name, std::string color, std::int64_t steps)
    : name_(std::move(name)),
      color_(std::move(color)),
      per_step_(columns / static_cast<double>(std::max<std::int64_t>(steps, 1))),
      columns_(columns) {}

void PlotCurve::add(std::int64_t step, double value) {
    const auto at = static_cast<std::int64_t>((static_cast<double>(step) - 0.5) * per_step_);
    Column& column =
        columns_[static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, columns - 1))];
    if (!std::isfinite(value)) {
        column.not_finite = true;
        return;
    }
    column.lowest = column.any ? std::min(column.lowest, value) : value;
    column.highest = column.any ? std::max(column.highest, value) : value;
    column.any = true;
}

std::string svg_plot(const std::vector<PlotCurve>& curves, std::int64_t steps,
                     const PlotLook& look) {
    return Drawing(curves, steps, look).svg();
}

}  // namespace engine
