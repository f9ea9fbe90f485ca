#include "twin/gap_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/record/step_record.h"

namespace ui {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Spread of the finite values. The mean is subtracted first, so that small spreads stay precise.
struct Spread {
    double mean = unknown;
    double twoErrors = unknown;  ///< of the mean; NaN below two values
};

Spread spreadOf(std::span<const double> values) {
    double sum = 0, count = 0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        sum += value;
        ++count;
    }
    Spread out;
    if (count == 0) return out;
    out.mean = sum / count;
    if (count < 2) return out;
    double squares = 0;
    for (const double value : values) {
        if (std::isfinite(value)) squares += (value - out.mean) * (value - out.mean);
    }
    out.twoErrors = 2 * std::sqrt(squares / (count - 1) / count);
    return out;
}

std::span<const double> window(std::span<const double> gaps, std::size_t end) {
    const std::size_t count = std::min(end, averagedSteps);
    return gaps.subspan(end - count, count);
}

engine::RunConfig withoutSeed(engine::RunConfig config) {
    config.seed = 0;
    return config;
}

}  // namespace

std::vector<double> trailingMeans(std::span<const double> gaps) {
    std::vector<double> out(gaps.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = spreadOf(window(gaps, i + 1)).mean;
    return out;
}

std::vector<double> noiseOverSteps(std::span<const double> gaps) {
    std::vector<double> out(gaps.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double errors = spreadOf(window(gaps, i + 1)).twoErrors;
        out[i] = std::isnan(errors) ? 0 : errors;
    }
    return out;
}

std::vector<double> noiseOverSeeds(const std::vector<std::vector<double>>& gapsBySeed) {
    std::vector<std::vector<double>> means;
    std::size_t steps = 0;
    for (const auto& gaps : gapsBySeed) {
        means.push_back(trailingMeans(gaps));
        steps = std::max(steps, gaps.size());
    }
    std::vector<double> out(steps, unknown), here;
    for (std::size_t i = 0; i < steps; ++i) {
        here.clear();
        for (const auto& seed : means) {
            if (i < seed.size()) here.push_back(seed[i]);
        }
        out[i] = spreadOf(here).twoErrors;
    }
    return out;
}

std::vector<SeedPair> siblingPairs(std::span<const engine::RunSummary> runs,
                                   const engine::RunConfig& reference,
                                   const engine::RunConfig& other, std::size_t most) {
    const engine::RunConfig wanted = withoutSeed(reference), beside = withoutSeed(other);
    const auto match = [](const engine::RunSummary& run, const engine::RunConfig& config) {
        return run.state == "done" && withoutSeed(run.config) == config;
    };
    std::vector<SeedPair> out;
    std::set<std::int64_t> seen{reference.seed};
    for (const auto& first : runs) {
        if (out.size() == most) break;
        if (seen.contains(first.config.seed) || !match(first, wanted)) continue;
        for (const auto& second : runs) {
            if (&second == &first || second.config.seed != first.config.seed ||
                !match(second, beside))
                continue;
            out.push_back({first.config.seed, first.folder, second.folder});
            seen.insert(first.config.seed);
            break;
        }
    }
    return out;
}

std::vector<double> lossGaps(const SeedPair& pair) {
    const auto a = engine::StepRecordReader::open(pair.reference);
    const auto b = engine::StepRecordReader::open(pair.other);
    const auto rows = static_cast<std::size_t>(std::min(a.size(), b.size()));
    std::vector<double> reference(rows), out(rows);
    a.column(&engine::StepRecord::loss, 0, reference);
    b.column(&engine::StepRecord::loss, 0, out);
    for (std::size_t i = 0; i < rows; ++i) out[i] -= reference[i];
    return out;
}

}  // namespace ui
