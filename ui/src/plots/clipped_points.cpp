#include "plots/clipped_points.h"

#include <algorithm>

namespace ui {

namespace {

constexpr int mostLooks = 512;  // parts of a series that one count looks at

class BeyondCount {
public:
    BeyondCount(const SeriesPyramid& series, double low, double high)
        : series_(series), low_(low), high_(high) {}

    void look(std::int64_t first, std::int64_t last) {
        if (first >= last) return;
        const Bucket rows = series_.total(first, last);
        if (rows.finite == 0) return;
        const bool above = static_cast<double>(rows.max) > high_;
        const bool below = static_cast<double>(rows.min) < low_;
        if (!above && !below) return;
        if (static_cast<double>(rows.min) > high_) {
            found_.above += rows.finite;
        } else if (static_cast<double>(rows.max) < low_) {
            found_.below += rows.finite;
        } else if (++looks_ > mostLooks) {
            // At least one of each kind that the extremes show.
            found_.above += above ? 1 : 0;
            found_.below += below ? 1 : 0;
            found_.all = false;
        } else if (last - first <= series_.base()) {
            for (const Bucket& row : series_.columns(first, last, last - first).buckets) {
                const bool any = row.finite > 0;
                found_.above += any && static_cast<double>(row.max) > high_ ? 1 : 0;
                found_.below += any && static_cast<double>(row.min) < low_ ? 1 : 0;
            }
        } else {
            const std::int64_t middle = cut(first, last);
            look(first, middle);
            look(middle, last);
        }
    }
    const Beyond& found() const { return found_; }

private:
    /// In the middle, where the series has a summary of each half without reading its rows.
    std::int64_t cut(std::int64_t first, std::int64_t last) const {
        std::int64_t width = 1;
        while (width * 2 < last - first) width *= 2;
        const std::int64_t at = (first + width) / width * width;
        return at > first && at < last ? at : first + (last - first) / 2;
    }

    const SeriesPyramid& series_;
    double low_, high_;
    int looks_ = 0;
    Beyond found_;
};

}  // namespace

void Beyond::add(const Beyond& other) {
    above += other.above;
    below += other.below;
    all = all && other.all;
}

Beyond countBeyond(const SeriesPyramid& series, std::int64_t first, std::int64_t last, double low,
                   double high) {
    BeyondCount count(series, low, high);
    count.look(std::max<std::int64_t>(0, first), std::min(last, series.size()));
    return count.found();
}

}  // namespace ui
