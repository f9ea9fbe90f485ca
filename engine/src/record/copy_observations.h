#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace engine {

/// Copies the instruments' records of a run's steps up to `step` to the folder of a run that
/// continues from there, which has none yet: histograms with their shadow passes, and examined
/// skips under the new run's id. Skips damaged reports. Throws Error(io), and Error(data) for
/// damaged histograms.
void copy_observations(const std::filesystem::path& from, const std::filesystem::path& to,
                       const std::string& run, std::int64_t step);

}  // namespace engine
