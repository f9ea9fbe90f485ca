#pragma once

#include <filesystem>
#include <vector>

namespace engine {

/// The course of a run's loss in at most so many values, for a drawing as small as a word: each is
/// the mean of up to 64 steps at the end of its part of the run. NaN where none of these is finite.
/// Empty if the record has fewer than two steps or cannot be read. Reads a bounded number of rows,
/// however long the run is.
std::vector<float> loss_sketch(const std::filesystem::path& run_folder, int most);

}  // namespace engine
