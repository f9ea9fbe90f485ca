#include "ops/vision/upsample_taps.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

using I = std::int64_t;

/// Fills the taps of an axis. In tensors, so that what does not fit in memory is Error(memory).
class TapWriter {
public:
    TapWriter(I taps, I out)
        : out_(out),
          made_{Tensor::full({taps, out}, -1, DType::i64, Device{}),
                Tensor::zeros({taps, out}, DType::f64, Device{})} {}

    I& index(I tap, I o) { return made_.index.data_as<I>()[tap * out_ + o]; }
    double& weight(I tap, I o) { return made_.weight.data_as<double>()[tap * out_ + o]; }
    I taps() const { return made_.index.size(0); }
    const AxisTaps& made() const { return made_; }

private:
    I out_;
    AxisTaps made_;
};

/// Input steps for each output step.
double step_of(I in, I out, bool align_corners, std::optional<double> scale) {
    if (align_corners)
        return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return scale ? 1 / *scale : static_cast<double>(in) / static_cast<double>(out);
}

AxisTaps nearest_taps(I in, I out, bool exact, std::optional<double> scale) {
    const float step =
        scale ? static_cast<float>(1 / *scale) : static_cast<float>(in) / static_cast<float>(out);
    const AxisTaps taps{Tensor::empty({1, out}, DType::i64, Device{}), {}};
    for (I o = 0; o < out; ++o) {
        const float at =
            exact ? static_cast<float>((static_cast<double>(o) + 0.5) * static_cast<double>(step))
                  : static_cast<float>(o) * step;
        taps.index.data_as<I>()[o] = std::min(static_cast<I>(std::floor(at)), in - 1);
    }
    return taps;
}

AxisTaps linear_taps(I in, I out, bool align_corners, std::optional<double> scale) {
    TapWriter taps(2, out);
    const double step = step_of(in, out, align_corners, scale);
    for (I o = 0; o < out; ++o) {
        const double place = static_cast<double>(o);
        const double at = align_corners ? place * step : std::max(0.0, (place + 0.5) * step - 0.5);
        const I first = std::min(static_cast<I>(at), in - 1);
        const double rest = std::clamp(at - static_cast<double>(first), 0.0, 1.0);
        taps.index(0, o) = first;
        taps.index(1, o) = std::min(first + 1, in - 1);
        taps.weight(0, o) = 1 - rest;
        taps.weight(1, o) = rest;
    }
    return taps.made();
}

constexpr double keys_slope = -0.75;

AxisTaps cubic_taps(I in, I out, bool align_corners, std::optional<double> scale) {
    TapWriter taps(4, out);
    const double step = step_of(in, out, align_corners, scale);
    for (I o = 0; o < out; ++o) {
        const double place = static_cast<double>(o);
        const double at = align_corners ? place * step : (place + 0.5) * step - 0.5;
        const double below = std::floor(at);
        const std::vector<double> weights = cubic_weights(at - below, keys_slope);
        for (I t = 0; t < 4; ++t) {
            taps.index(t, o) = std::clamp<I>(static_cast<I>(below) + t - 1, 0, in - 1);
            taps.weight(t, o) = weights[static_cast<std::size_t>(t)];
        }
    }
    return taps.made();
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
    TapWriter taps(static_cast<I>(std::ceil(support)) * 2 + 1, out);
    for (I o = 0; o < out; ++o) {
        const double center = step * (static_cast<double>(o) + 0.5);
        const I first = std::max<I>(static_cast<I>(center - support + 0.5), 0);
        const I last = std::min(static_cast<I>(center + support + 0.5), in);
        double sum = 0;
        for (I i = first; i < last; ++i) {
            const double x = (static_cast<double>(i) - center + 0.5) / stretch;
            taps.index(i - first, o) = i;
            taps.weight(i - first, o) = cubic ? smooth_cubic(x) : triangle(x);
            sum += taps.weight(i - first, o);
        }
        for (I t = 0; t < taps.taps() && sum != 0; ++t) taps.weight(t, o) /= sum;
    }
    return taps.made();
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
