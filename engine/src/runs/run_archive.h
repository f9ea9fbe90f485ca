#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Each of several runs of an archive has its files in a folder of this name and its place, from 1.
inline constexpr std::string_view archived_run = "run-";
/// Depth of a run's files.
inline constexpr std::size_t max_depth_in_run = 3;
/// Names of a run's files: a few folders of letters, digits, dots, dashes. None begins with a dot.
bool is_archived_name(std::string_view name, std::size_t deepest = max_depth_in_run);

/// Unpacks a file that export_run_file() wrote into `folder`, which is empty. Throws Error(data),
/// with nothing written outside, for an invalid archive: names that leave the folder or are not
/// plain, links, an entry twice, too many entries, more bytes than the file can stand for, no
/// settings, a damaged record. Throws Error(io). On an error, already unpacked files stay in
/// `folder`.
void unpack_run(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Unpacks a file that may hold several runs: each into a folder of its own in `folder` and returns
/// these folders in the order of the runs, one for a file of export_run_file().
std::vector<std::filesystem::path> unpack_runs(const std::filesystem::path& file,
                                               const std::filesystem::path& folder);

/// Gives the run that was unpacked in `folder` this id, and `place` as its folder, in all of its
/// events; with a `group` also that one, without its former number. Throws Error(io).
void rename_run(const std::filesystem::path& folder, const std::string& run,
                const std::filesystem::path& place, const std::string& group = {});

}  // namespace engine
