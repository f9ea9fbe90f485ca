#include "train/predict/hard_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "train/predict/predictor.h"

namespace engine {
namespace {

bool comes_before(const HardSample& a, const HardSample& b) {
    const bool a_nan = std::isnan(a.loss), b_nan = std::isnan(b.loss);
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && a.loss != b.loss) return a.loss > b.loss;
    return a.index < b.index;
}

}  // namespace

HardSample judged_by(std::span<const double> scores, std::int64_t label) {
    HardSample out;
    out.label = label;
    if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); })) {
        out.probability = out.loss = std::numeric_limits<double>::quiet_NaN();
        return out;
    }
    const auto best = std::ranges::max_element(scores);
    out.predicted = best - scores.begin();
    const auto probabilities = to_probabilities({scores.begin(), scores.end()});
    out.probability = probabilities[static_cast<std::size_t>(out.predicted)];
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - *best);
    out.loss = *best + std::log(sum) - scores[static_cast<std::size_t>(label)];
    return out;
}

void HardSamples::see(HardSample sample) {
    if (max_size_ == 0) return;
    if (kept_.size() == max_size_) {
        if (!comes_before(sample, kept_.front())) return;
        std::ranges::pop_heap(kept_, comes_before);
        kept_.pop_back();
    }
    kept_.push_back(std::move(sample));
    std::ranges::push_heap(kept_, comes_before);
}

std::vector<HardSample> HardSamples::take() {
    std::ranges::sort(kept_, comes_before);
    return std::exchange(kept_, {});
}

}  // namespace engine
