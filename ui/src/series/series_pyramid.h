#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ui {

/// Several rows of a series combined. min, max, last and mean cover the finite values; all four are
/// meaningless while finite is 0.
struct Bucket {
    float min = 0;
    float max = 0;
    float last = 0;  ///< newest finite value
    float mean = 0;
    std::uint32_t finite : 29 = 0;
    std::uint32_t nan : 1 = 0;
    std::uint32_t up : 1 = 0;    ///< holds +infinity
    std::uint32_t down : 1 = 0;  ///< holds -infinity

    void add(double value) { add(std::span(&value, 1)); }
    void add(std::span<const double> later);
    void add(const Bucket& later);
};

/// Min/max summary of a growing series, so that the cost of drawing depends on pixels and not on
/// rows (decisions.md#plots, D13). Level k holds one Bucket for each base() << k rows, at first
/// 0.31 bytes a row. When the finest level is full it is dropped and base() doubles, so a run of
/// any length takes at most 1.3 MiB. The rows themselves are not copied: `source` reads them when a
/// query needs single rows, or columns narrower than base().
class SeriesPyramid {
public:
    /// Fills `out` with rows [first, first + out.size()). Called only for appended rows.
    using Source = std::function<void(std::int64_t first, std::span<double> out)>;
    static constexpr std::size_t maxBuckets = std::size_t{1} << 15;

    /// finest: buckets of the finest level before it is dropped; an even number.
    explicit SeriesPyramid(Source source, std::size_t finest = maxBuckets);

    /// Appends the next rows. O(1) per row, amortised.
    void append(std::span<const double> values);
    std::int64_t size() const { return size_; }
    /// Rows of the finest Bucket that is kept; a power of two.
    std::int64_t base() const { return base_; }
    /// Bytes held.
    std::size_t memory() const;

    /// `width` rows each, a power of two. Column i covers rows [first + i * width, ...), the last
    /// one perhaps fewer. first is a multiple of width, so columns do not shift while the series
    /// grows.
    struct Columns {
        std::int64_t first = 0;
        std::int64_t width = 1;
        std::vector<Bucket> buckets;
    };
    /// Rows [first, last) in at least `count` columns, if there are as many rows, and at most about
    /// twice as many. Every row is in some bucket, so a one-row spike shows.
    Columns columns(std::int64_t first, std::int64_t last, std::int64_t count) const;
    /// Rows [first, last) as one.
    Bucket total(std::int64_t first, std::int64_t last) const;
    /// The newest row in [0, from], or the oldest in [from, size), with a value above 0; -1: none.
    std::int64_t previousAbove0(std::int64_t from) const;
    std::int64_t nextAbove0(std::int64_t from) const;

private:
    void close();
    Columns rawColumns(std::int64_t first, std::int64_t last, std::int64_t width) const;
    Bucket block(std::int64_t index, std::size_t level) const;

    Source source_;
    std::size_t finest_;
    std::int64_t base_ = 128;
    std::int64_t size_ = 0;
    Bucket open_;  ///< rows since the last full base bucket
    std::vector<std::vector<Bucket>> levels_;
    mutable std::vector<double> rows_;  ///< scratch
};

/// Finite values outside a range.
struct Beyond {
    std::int64_t above = 0;
    std::int64_t below = 0;
    bool all = true;  ///< else there may be more

    void add(const Beyond& other);
};

/// Counts the rows [first, last) of a series that lie above `high` or below `low`. Reads parts of
/// the series that hold both kinds only up to a limit, so that it costs little in every frame.
Beyond countBeyond(const SeriesPyramid& series, std::int64_t first, std::int64_t last, double low,
                   double high);

}  // namespace ui
