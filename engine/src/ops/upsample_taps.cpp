#include "ops/upsample_taps.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

using I = std::int64_t;

AxisTaps empty_taps(std::size_t taps, I out) {
    const auto n = static_cast<std::size_t>(out);
    return {std::vector(taps, std::vector<I>(n, -1)), std::vector(taps, std::vector<double>(n, 0))};
}

/// Input steps for each output step.
double step_of(I in, I out, bool align_corners, std::optional<double> scale) {
    if (align_corners)
        return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return scale ? 1 / *scale : static_cast<double>(in) / static_cast<double>(out);
}

AxisTaps nearest_taps(I in, I out, bool exact, std::optional<double> scale) {
    const float step =
        scale ? static_cast<float>(1 / *scale) : static_cast<float>(in) / static_cast<float>(out);
    AxisTaps taps{{{}}, {}};
    for (I o = 0; o < out; ++o) {
        const float at =
            exact ? static_cast<float>((static_cast<double>(o) + 0.5) * static_cast<double>(step))
                  : static_cast<float>(o) * step;
        taps.index[0].push_back(std::min(static_cast<I>(std::floor(at)), in - 1));
    }
    return taps;
}

AxisTaps linear_taps(I in, I out, bool align_corners, std::optional<double> scale) {
    AxisTaps taps = empty_taps(2, out);
    const double step = step_of(in, out, align_corners, scale);
    for (I o = 0; o < out; ++o) {
        const auto k = static_cast<std::size_t>(o);
        const double place = static_cast<double>(o);
        const double at = align_corners ? place * step : std::max(0.0, (place + 0.5) * step - 0.5);
        const I first = std::min(static_cast<I>(at), in - 1);
        const double rest = std::clamp(at - static_cast<double>(first), 0.0, 1.0);
        taps.index[0][k] = first;
        taps.index[1][k] = std::min(first + 1, in - 1);
        taps.weight[0][k] = 1 - rest;
        taps.weight[1][k] = rest;
    }
    return taps;
}

constexpr double keys_slope = -0.75;

AxisTaps cubic_taps(I in, I out, bool align_corners, std::optional<double> scale) {
    AxisTaps taps = empty_taps(4, out);
    const double step = step_of(in, out, align_corners, scale);
    for (I o = 0; o < out; ++o) {
        const double place = static_cast<double>(o);
        const double at = align_corners ? place * step : (place + 0.5) * step - 0.5;
        const double below = std::floor(at);
        const std::vector<double> weights = cubic_weights(at - below, keys_slope);
        for (std::size_t t = 0; t < 4; ++t) {
            const I i = static_cast<I>(below) + static_cast<I>(t) - 1;
            taps.index[t][static_cast<std::size_t>(o)] = std::clamp<I>(i, 0, in - 1);
            taps.weight[t][static_cast<std::size_t>(o)] = weights[t];
        }
    }
    return taps;
}

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

/// Keys' cubic as Pillow has it, with slope -0.5.
double smooth_cubic(double x) {
    constexpr double a = -0.5;
    x = std::fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// A filter as wide as what an output stands for, its weights divided by their sum.
AxisTaps smooth_taps(I in, I out, bool cubic, bool align_corners, std::optional<double> scale) {
    const double step = step_of(in, out, align_corners, scale);
    const double stretch = std::max(step, 1.0), support = (cubic ? 2 : 1) * stretch;
    const auto most = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
    AxisTaps taps = empty_taps(most, out);
    for (I o = 0; o < out; ++o) {
        const auto k = static_cast<std::size_t>(o);
        const double center = step * (static_cast<double>(o) + 0.5);
        const I first = std::max<I>(static_cast<I>(center - support + 0.5), 0);
        const I last = std::min(static_cast<I>(center + support + 0.5), in);
        double sum = 0;
        for (I i = first; i < last; ++i) {
            const double x = (static_cast<double>(i) - center + 0.5) / stretch;
            const auto t = static_cast<std::size_t>(i - first);
            taps.index[t][k] = i;
            taps.weight[t][k] = cubic ? smooth_cubic(x) : triangle(x);
            sum += taps.weight[t][k];
        }
        for (auto& weight : taps.weight)
            if (sum != 0) weight[k] /= sum;
    }
    return taps;
}

}  // namespace

std::vector<double> cubic_weights(double t, double a) {
    const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

AxisTaps axis_taps(UpsampleMode mode, std::int64_t in, std::int64_t out, bool align_corners,
                   std::optional<double> scale) {
    switch (mode) {
        case UpsampleMode::nearest:
        case UpsampleMode::nearest_exact:
            return nearest_taps(in, out, mode == UpsampleMode::nearest_exact, scale);
        case UpsampleMode::linear:
            return linear_taps(in, out, align_corners, scale);
        case UpsampleMode::cubic:
            return cubic_taps(in, out, align_corners, scale);
        case UpsampleMode::linear_aa:
        case UpsampleMode::cubic_aa:
            break;
    }
    return smooth_taps(in, out, mode == UpsampleMode::cubic_aa, align_corners, scale);
}

}  // namespace engine
