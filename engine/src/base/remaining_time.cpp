#include "engine/base/remaining_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace engine {
namespace {

constexpr double min_time = 1;  ///< s, before which the pace is chance
constexpr double min_share = 1e-6;

}  // namespace

std::optional<double> RemainingTime::after(double share, double now) {
    if (!std::isfinite(share)) return std::nullopt;
    share = std::clamp(share, 0.0, 1.0);
    if (!begun_ || share < share_) {
        begun_ = true;
        first_share_ = share;
        first_time_ = now;
    }
    share_ = share;
    const double took = now - first_time_, done = share - first_share_;
    if (took < min_time || done < min_share) return std::nullopt;
    return (1 - share) * took / done;
}

std::optional<double> RemainingTime::after(double share) {
    using Clock = std::chrono::steady_clock;
    return after(share, std::chrono::duration<double>(Clock::now().time_since_epoch()).count());
}

std::string time_left_text(double seconds) {
    constexpr double most = 1e9;  // 30 years
    const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, most)));
    const auto text = [](std::int64_t value, const char* unit) {
        return std::to_string(value) + unit;
    };
    if (whole < 60) return text(whole, " s left");
    if (whole < 3600) return text(whole / 60, " min ") + text(whole % 60, " s left");
    return text(whole / 3600, " h ") + text(whole / 60 % 60, " min left");
}

}  // namespace engine
