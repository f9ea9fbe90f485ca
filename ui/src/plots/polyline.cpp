#include "plots/polyline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ui {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void push(Polyline& line, double x, double y) {
    line.x.push_back(x);
    line.y.push_back(y);
}

/// Sums over stretches of columns, by blocks of them. Computed anew for each stretch, because a
/// running sum would not recover the digits lost to one huge value.
class BlockSums {
public:
    struct Sum {
        double sum = 0;
        double weight = 0;
        void add(const Sum& other) {
            sum += other.sum;
            weight += other.weight;
        }
    };

    explicit BlockSums(const std::vector<Bucket>& buckets) {
        for (const Bucket& b : buckets) {
            if (columns_.size() % block == 0) blocks_.emplace_back();
            columns_.push_back({b.finite == 0 ? 0 : static_cast<double>(b.mean) * b.finite,
                                static_cast<double>(b.finite)});
            blocks_.back().add(columns_.back());
        }
    }
    Sum over(std::int64_t from, std::int64_t to) const {
        Sum all;
        for (auto at = static_cast<std::size_t>(from); at < static_cast<std::size_t>(to);) {
            const bool whole = at % block == 0 && at + block <= static_cast<std::size_t>(to);
            all.add(whole ? blocks_[at / block] : columns_[at]);
            at += whole ? block : 1;
        }
        return all;
    }

private:
    static constexpr std::size_t block = 32;
    std::vector<Sum> columns_;
    std::vector<Sum> blocks_;
};

}  // namespace

double columnX(const SeriesPyramid::Columns& columns, std::size_t index) {
    const auto width = static_cast<double>(columns.width);
    return static_cast<double>(columns.first) + static_cast<double>(index) * width + 1 +
           (width - 1) / 2;
}

Polyline envelope(const SeriesPyramid::Columns& columns) {
    Polyline line;
    for (std::size_t i = 0; i < columns.buckets.size(); ++i) {
        const Bucket& b = columns.buckets[i];
        const double x = columnX(columns, i);
        if (b.finite == 0) {
            push(line, x, nan);
        } else if (b.min == b.max) {
            push(line, x, b.min);
        } else {
            // Enter at the end nearer to where the line comes from.
            const double before =
                line.y.isEmpty() || std::isnan(line.y.back()) ? b.min : line.y.back();
            const bool upwards = std::abs(b.min - before) <= std::abs(b.max - before);
            push(line, x, upwards ? b.min : b.max);
            push(line, x, upwards ? b.max : b.min);
        }
    }
    return line;
}

Polyline stairs(const SeriesPyramid::Columns& columns) {
    Polyline line;
    double level = nan;
    for (std::size_t i = 0; i < columns.buckets.size(); ++i) {
        const Bucket& b = columns.buckets[i];
        const double x = static_cast<double>(columns.first) +
                         static_cast<double>(i) * static_cast<double>(columns.width) + 0.5;
        const double end = x + static_cast<double>(columns.width);
        if (b.finite == 0) {
            if (!std::isnan(level)) push(line, x, level);
            push(line, x, nan);
            level = nan;
            continue;
        }
        const bool still = b.min == level && b.max == level;
        if (!still) {
            if (!std::isnan(level)) push(line, x, level);
            push(line, x, b.min);
            if (b.max != b.min) push(line, x, b.max);
            if (b.last != b.max) push(line, x, b.last);
            level = b.last;
        }
        if (i + 1 == columns.buckets.size()) push(line, end, level);
    }
    return line;
}

Polyline trailingMean(const SeriesPyramid::Columns& columns, std::int64_t window, double fromX,
                     double toX) {
    Polyline line;
    const auto all = std::ssize(columns.buckets);
    const auto span = std::max<std::int64_t>(1, window / columns.width);
    const BlockSums sums(columns.buckets);
    for (std::int64_t i = 0; i < all; ++i) {
        const double x = columnX(columns, static_cast<std::size_t>(i));
        if (x < fromX || x > toX) continue;
        const auto [sum, weight] = sums.over(std::max<std::int64_t>(0, i + 1 - span), i + 1);
        const bool gap = columns.buckets[static_cast<std::size_t>(i)].finite == 0;
        push(line, x, gap ? nan : sum / weight);
    }
    return line;
}

std::int64_t smoothingWindow(std::int64_t width, std::int64_t strength) {
    const std::int64_t wanted = strength * width / 5;
    if (wanted <= strength) return strength;
    for (std::int64_t power = 10;; power *= 10) {
        for (const std::int64_t digit : {1, 2, 5}) {
            if (digit * power >= wanted) return digit * power;
        }
    }
}

std::vector<NonFinite> nonFinite(const SeriesPyramid::Columns& columns) {
    std::vector<NonFinite> marks;
    for (std::size_t i = 0; i < columns.buckets.size(); ++i) {
        const Bucket& b = columns.buckets[i];
        if (b.nan + b.up + b.down == 0u) continue;
        marks.push_back({columnX(columns, i), b.nan != 0, b.up != 0, b.down != 0});
    }
    return marks;
}

std::vector<double> spreadLabels(const std::vector<double>& wanted, double height, double low,
                                 double high) {
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    std::vector<double> placed(wanted.size());
    double next = low + height / 2;
    for (const std::size_t i : order) {
        placed[i] = std::max(wanted[i], next);
        next = placed[i] + height;
    }
    double limit = high - height / 2;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        placed[*it] = std::min(placed[*it], limit);
        limit = placed[*it] - height;
    }
    return placed;
}

}  // namespace ui
