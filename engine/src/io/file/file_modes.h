#pragma once

#include <filesystem>
#include <system_error>

#include "io/file/mapped_file.h"

// Who may read what the program writes. The files of a run and of the history are private: 0600 in
// folders of 0700, less umask; with HALFTONE_SHARED=group in the environment 0660 and 2770, so that
// colleagues of one group can go on with each other's runs. A run keeps the modes that it began
// with: what is added to it has the mode of its config.json. Files elsewhere follow the umask.
namespace engine {

/// Opens a file with the open(2) `flags`, making it if absent; with O_EXCL only if absent. A new
/// one in the folder of a run has the mode of that run; any other 0666 less umask. Not open, with
/// errno, if that fails: also for a symbolic link (ELOOP), since a run's folder may come from
/// somebody else, and its links lead to files that are not the run's. A file that a person names
/// is written by write_named_file().
File open_to_write(const std::filesystem::path& path, int flags);
/// Opens a file of the history, which is private outside of runs, too.
File open_private(const std::filesystem::path& path, int flags);

/// Makes a private folder, with those above it that are missing. One that is there keeps its mode.
/// A symbolic link within a run is refused (ELOOP).
void make_private_folders(const std::filesystem::path& folder, std::error_code& error);
/// Makes a private folder. Returns 0 or the errno, such as EEXIST.
int make_private_folder(const std::filesystem::path& folder);

}  // namespace engine
