#pragma once

#include <cstdint>

#include "series/series_pyramid.h"

namespace ui {

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
