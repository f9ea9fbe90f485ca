#include "microscope/exponent_axis.h"

#include <cmath>

namespace ui {

FormatLimits limitsOf(const engine::NumberFormat& format) {
    return {std::log2(format.smallest), std::log2(format.smallest_normal),
            std::log2(format.overflow)};
}

}  // namespace ui
