#include "engine/record/scale_outlook.h"

#include <cmath>

namespace engine {

std::int64_t skips_to_usual_scale(const ScaleChanged& skip) noexcept {
    const bool calibrating = skip.kind == ScaleChanged::Kind::skipped_calibrating;
    const bool lowered = skip.to < skip.from && skip.to > usual_loss_scale;
    if (!calibrating || !lowered || skip.clean_steps > 0 || !std::isfinite(skip.from)) return 0;
    const double each = std::log2(static_cast<double>(skip.from) / static_cast<double>(skip.to));
    const double all = std::log2(static_cast<double>(skip.to) / double{usual_loss_scale});
    return std::llround(std::ceil(all / each - 1e-9));
}

}  // namespace engine
