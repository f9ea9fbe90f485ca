#include "series/series_pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

void Bucket::add(std::span<const double> later) {
    Bucket all;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double sum = 0;
    std::uint32_t count = 0;
    for (const double value : later) {
        if (!std::isfinite(value)) {
            if (std::isnan(value)) all.nan = 1;
            if (value > 0) all.up = 1;
            if (value < 0) all.down = 1;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
        ++count;
        all.last = static_cast<float>(value);
    }
    all.min = static_cast<float>(low);
    all.max = static_cast<float>(high);
    all.finite = count & ((1u << 29) - 1);
    all.mean = count == 0 ? 0 : static_cast<float>(sum / count);
    add(all);
}

void Bucket::add(const Bucket& later) {
    nan |= later.nan;
    up |= later.up;
    down |= later.down;
    if (later.finite == 0) return;
    if (finite == 0) {
        min = later.min;
        max = later.max;
        mean = later.mean;
    } else {
        min = std::min(min, later.min);
        max = std::max(max, later.max);
        const float share = static_cast<float>(later.finite) /
                            (static_cast<float>(finite) + static_cast<float>(later.finite));
        mean += (later.mean - mean) * share;
    }
    last = later.last;
    finite = (finite + later.finite) & ((1u << 29) - 1);
}

SeriesPyramid::SeriesPyramid(Source source, std::size_t finest)
    : source_(std::move(source)), finest_(finest) {}

void SeriesPyramid::append(std::span<const double> values) {
    while (!values.empty()) {
        const auto room = static_cast<std::size_t>(base_ - size_ % base_);
        const auto next = values.first(std::min(room, values.size()));
        open_.add(next);
        size_ += std::ssize(next);
        if (size_ % base_ == 0) close();
        values = values.subspan(next.size());
    }
}

void SeriesPyramid::close() {
    Bucket full = open_;
    open_ = {};
    for (std::size_t k = 0;; ++k) {
        if (k == levels_.size()) levels_.emplace_back();
        auto& level = levels_[k];
        level.push_back(full);
        if (level.size() % 2 != 0) break;
        full = level[level.size() - 2];
        full.add(level.back());
    }
    if (levels_.front().size() < finest_) return;
    levels_.erase(levels_.begin());
    base_ *= 2;
}

std::size_t SeriesPyramid::memory() const {
    std::size_t bytes = sizeof(*this) + rows_.capacity() * sizeof(double);
    for (const auto& level : levels_) bytes += level.capacity() * sizeof(Bucket);
    return bytes;
}

Bucket SeriesPyramid::block(std::int64_t index, std::size_t level) const {
    if (level < levels_.size() && index < std::ssize(levels_[level])) {
        return levels_[level][static_cast<std::size_t>(index)];
    }
    // Not full yet: its two halves, then what is open.
    if (level == 0) return index == size_ / base_ ? open_ : Bucket{};
    if (index * (base_ << level) >= size_) return {};
    Bucket bucket = block(2 * index, level - 1);
    bucket.add(block(2 * index + 1, level - 1));
    return bucket;
}

SeriesPyramid::Columns SeriesPyramid::rawColumns(std::int64_t first, std::int64_t last,
                                                 std::int64_t width) const {
    Columns out{.first = first, .width = width, .buckets = {}};
    const std::int64_t most = std::max<std::int64_t>(width, 4096);  // a multiple of width
    for (std::int64_t at = first; at < last; at += most) {
        rows_.resize(static_cast<std::size_t>(std::min(most, last - at)));
        source_(at, rows_);
        for (std::span<const double> left = rows_; !left.empty();) {
            const auto column = left.first(std::min(left.size(), static_cast<std::size_t>(width)));
            out.buckets.emplace_back().add(column);
            left = left.subspan(column.size());
        }
    }
    return out;
}

SeriesPyramid::Columns SeriesPyramid::columns(std::int64_t first, std::int64_t last,
                                              std::int64_t count) const {
    first = std::clamp<std::int64_t>(first, 0, size_);
    last = std::clamp<std::int64_t>(last, first, size_);
    if (first == last) return {.first = first, .width = 1, .buckets = {}};
    std::int64_t width = 1;
    std::size_t level = 0;
    while ((last - first) / (2 * width) >= std::max<std::int64_t>(1, count)) width *= 2;
    first -= first % width;
    if (width < base_) return rawColumns(first, last, width);
    while ((base_ << level) < width) ++level;
    Columns out{.first = first, .width = width, .buckets = {}};
    const std::int64_t end = (last + width - 1) / width;
    out.buckets.reserve(static_cast<std::size_t>(end - first / width));
    for (std::int64_t i = first / width; i < end; ++i) out.buckets.push_back(block(i, level));
    return out;
}

Bucket SeriesPyramid::total(std::int64_t first, std::int64_t last) const {
    first = std::clamp<std::int64_t>(first, 0, size_);
    last = std::clamp<std::int64_t>(last, first, size_);
    Bucket all;
    while (first < last) {
        if (first % base_ != 0 || last - first < base_) {
            const std::int64_t end = std::min(last, first - first % base_ + base_);
            all.add(rawColumns(first, end, base_).buckets.front());
            first = end;
            continue;
        }
        std::size_t level = 0;
        while (first % (base_ << (level + 1)) == 0 && first + (base_ << (level + 1)) <= last)
            ++level;
        all.add(block(first / (base_ << level), level));
        first += base_ << level;
    }
    return all;
}

std::int64_t SeriesPyramid::previousAbove0(std::int64_t from) const {
    from = std::min(from, size_ - 1);
    while (from >= 0) {
        // The widest block that ends at `from` and holds nothing is stepped over at once.
        std::size_t level = 0;
        const auto quiet = [&](std::size_t k) {
            const std::int64_t width = base_ << k;
            if ((from + 1) % width != 0 && from + 1 != size_) return false;
            const Bucket bucket = block(from / width, k);
            return (bucket.finite == 0 || bucket.max <= 0) && bucket.up == 0;
        };
        if (quiet(0)) {
            while (level + 1 < levels_.size() && quiet(level + 1)) ++level;
            from -= from % (base_ << level) + 1;
            continue;
        }
        const std::int64_t start = from - from % base_;
        rows_.resize(static_cast<std::size_t>(from - start + 1));
        source_(start, rows_);
        while (from >= start && !(rows_[static_cast<std::size_t>(from - start)] > 0)) --from;
        if (from >= start) return from;
    }
    return -1;
}

std::int64_t SeriesPyramid::nextAbove0(std::int64_t from) const {
    from = std::max<std::int64_t>(0, from);
    while (from < size_) {
        std::size_t level = 0;
        const auto quiet = [&](std::size_t k) {
            const std::int64_t width = base_ << k;
            if (from % width != 0) return false;
            const Bucket bucket = block(from / width, k);
            return (bucket.finite == 0 || bucket.max <= 0) && bucket.up == 0;
        };
        if (quiet(0)) {
            while (level + 1 < levels_.size() && quiet(level + 1)) ++level;
            from += base_ << level;
            continue;
        }
        const std::int64_t end = std::min(size_, from - from % base_ + base_);
        rows_.resize(static_cast<std::size_t>(end - from));
        source_(from, rows_);
        const auto hit = std::find_if(rows_.begin(), rows_.end(), [](double v) { return v > 0; });
        if (hit != rows_.end()) return from + (hit - rows_.begin());
        from = end;
    }
    return -1;
}

namespace {

constexpr int maxLooks = 512;  // parts of a series that one count looks at

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
        } else if (++looks_ > maxLooks) {
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
