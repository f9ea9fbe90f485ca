#pragma once

#include <filesystem>
#include <string_view>

namespace engine {

/// Writes a file that a person named: an export, a report, settings. A new file follows the umask.
/// An existing one is replaced as a whole, with its mode and owner; behind a symbolic link that is
/// the file it leads to. A file with several names is written in place, and a device or a pipe
/// straight into. Throws Error(io), also for a file without any permission to write, which even
/// root would otherwise overwrite.
void write_named_file(const std::filesystem::path& file, std::string_view text);

/// Removes what this process has begun to write beside the places of its files, and not yet put
/// there. For a handler of signals that end the program: safe in there, and only there.
void remove_unfinished_files() noexcept;

/// Whether a file of that name is what standard output goes to, such as /dev/stdout.
bool is_standard_output(const std::filesystem::path& file);

}  // namespace engine
