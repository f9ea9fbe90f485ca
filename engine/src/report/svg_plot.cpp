#include "report/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "engine/base/plain_text.h"
#include "engine/number/figure_text.h"

namespace engine {
namespace {

constexpr double left = 80, right = 940, top = 14, bottom = 276;
constexpr double width = 1000, height = 320;

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

/// "65,536", "5·10⁻⁵", "0.25"; "2¹⁶" on an axis of powers of two.
std::string mark_text(PlotScale scale, double value) {
    if (scale == PlotScale::log2) return power_text(value);
    constexpr int digits = 6;
    std::string text = figure_text(value, digits);
    const std::size_t power = std::min(text.find("·"), text.size());
    const std::string tail = text.substr(power);
    text.resize(power);
    if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    if (text == "1" && !tail.empty()) return tail.substr(std::string_view("·").size());
    return text + tail;
}

double onto(PlotScale scale, double value) {
    if (scale == PlotScale::log10) return std::log10(value);
    return scale == PlotScale::log2 ? std::log2(value) : value;
}

bool fits(PlotScale scale, double value) { return scale == PlotScale::linear || value > 0; }

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool any() const { return low <= high; }
    /// Room above and below, and some where all values are the same.
    void widen() {
        const double room = high > low ? (high - low) * 0.04 : std::max(std::abs(high) * 0.1, 0.5);
        low -= room;
        high += room;
    }
};

/// The plot as it is drawn.
class Drawing {
public:
    Drawing(const std::vector<PlotCurve>& curves, std::int64_t steps, const PlotLook& look)
        : curves_(curves), steps_(std::max<std::int64_t>(steps, 1)), look_(look) {
        for (const PlotCurve& curve : curves) {
            for (const auto& column : curve.all()) {
                if (!column.any || !fits(look.scale, column.lowest)) continue;
                range_.add(onto(look.scale, column.lowest));
                range_.add(onto(look.scale, column.highest));
            }
        }
        if (!range_.any()) {
            empty_ = true;
            range_ = {0, 1};
        }
        // As in the window: whole powers of two, two more below and one above.
        if (look.scale == PlotScale::log2 && !empty_)
            range_ = {std::floor(range_.low) - 2, std::ceil(range_.high) + 1};
        else
            range_.widen();
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
    double y(double value) const {
        return bottom - (value - range_.low) / (range_.high - range_.low) * (bottom - top);
    }
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
        for (const double value : y_marks()) {
            const double at = y(onto(look_.scale, value));
            line(left, at, right, at, "#e4e4e4", 1);
            text(left - 8, at + 4, "end", mark_text(look_.scale, value));
        }
    }
    /// Values with marks: whole powers on a logarithmic axis that spans some, else round numbers.
    std::vector<double> y_marks() const {
        const PlotScale scale = look_.scale;
        if (scale == PlotScale::linear) return axis_marks(range_.low, range_.high, 6);
        const auto value = [scale](double mark) {
            return scale == PlotScale::log10 ? std::pow(10, mark) : std::exp2(mark);
        };
        std::vector<double> whole;
        // The axis of powers of two has marks of its own, so that 2¹⁶ to 2¹⁷ has two.
        if (scale == PlotScale::log2) {
            const double stride = std::ceil((range_.high - range_.low) / 8);
            const double first = std::ceil(range_.low / stride) * stride;
            for (double mark = first; mark <= range_.high; mark += stride)
                whole.push_back(value(mark));
            return whole;
        }
        for (const double mark : axis_marks(range_.low, range_.high, 6)) {
            if (mark == std::floor(mark)) whole.push_back(value(mark));
        }
        return whole.size() > 1 ? whole : axis_marks(value(range_.low), value(range_.high), 6);
    }
    void draw_x_axis() {
        line(left, bottom, right, bottom, "#999", 1);
        for (const double mark : axis_marks(0, static_cast<double>(steps_), 8)) {
            line(x_of_step(mark), bottom, x_of_step(mark), bottom + 4, "#999", 1);
            text(x_of_step(mark), bottom + 20, "middle", mark_text(PlotScale::linear, mark));
        }
        text(right + 8, bottom + 20, "start", "step");
    }

    /// A band between the extremes of each column, closed to a line where they are the same.
    void draw(const PlotCurve& curve) {
        std::string path;
        double last = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < curve.all().size(); ++i) {
            const auto& column = curve.all()[i];
            if (!column.any || !fits(look_.scale, column.lowest)) continue;
            const double high = y(onto(look_.scale, column.highest));
            const double low = y(onto(look_.scale, column.lowest));
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
    Range range_;
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

std::vector<double> axis_marks(double low, double high, int most) {
    const double rough = (high - low) / most;
    if (!(rough > 0) || !std::isfinite(rough)) return {low};
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power * 10;
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (power * factor >= rough) {
            step = power * factor;
            break;
        }
    }
    std::vector<double> marks;
    for (double mark = std::ceil(low / step) * step; mark <= high + step * 1e-9; mark += step)
        marks.push_back(std::abs(mark) < step * 1e-9 ? 0 : mark);
    return marks;
}

std::string svg_plot(const std::vector<PlotCurve>& curves, std::int64_t steps,
                     const PlotLook& look) {
    return Drawing(curves, steps, look).svg();
}

std::string html_text(const std::string& text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace engine
