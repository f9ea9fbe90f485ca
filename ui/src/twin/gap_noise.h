#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "engine/runs/run_store.h"

namespace ui {

/// Steps that the loss gap of a twin is averaged over.
inline constexpr std::size_t averagedSteps = 20;

/// Mean of up to averagedSteps values that end at each step; NaN where none is finite.
std::vector<double> trailingMeans(std::span<const double> gaps);

/// Two standard errors of the trailing mean at each step, by the spread of the gap over the steps
/// that it averages; 0 where fewer than two are finite.
std::vector<double> noiseOverSteps(std::span<const double> gaps);

/// Two standard errors of the trailing mean over seeds at each step: 2 s / sqrt(n), with s the
/// standard deviation over the n seeds whose runs reach that step. A list a seed; NaN where n < 2.
std::vector<double> noiseOverSeeds(const std::vector<std::vector<double>>& gapsBySeed);

/// The folders of two runs with the settings of a twin's but for the seed.
struct SeedPair {
    std::int64_t seed;
    std::filesystem::path reference, other;
    bool operator==(const SeedPair&) const = default;
};
/// Pairs of runs in a list that ended by themselves, newest first: one for each seed other than the
/// twin's own, at most `most` of them.
std::vector<SeedPair> siblingPairs(std::span<const engine::RunSummary> runs,
                                   const engine::RunConfig& reference,
                                   const engine::RunConfig& other, std::size_t most = 8);

/// Loss of the second run minus that of the first, step by step. Throws engine::Error(data).
std::vector<double> lossGaps(const SeedPair& pair);

}  // namespace ui
