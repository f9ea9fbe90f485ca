#include "io/file/file_modes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr mode_t everybody = 0666;  // less umask
constexpr mode_t owner = 0600, group = 0660;
constexpr int deepest = 3;  ///< folders between a run's folder and its files, with both

/// Mode of new files of a run or of the history.
mode_t private_mode() {
    const char* shared = std::getenv("HALFTONE_SHARED");
    return shared != nullptr && std::string_view(shared) == "group" ? group : owner;
}

std::optional<mode_t> read_mode(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return std::nullopt;
    return (info.st_mode & everybody) | owner;
}

/// The mode of the files of the run, or of the history, that this is the folder of; nothing if it
/// is none.
std::optional<mode_t> mode_of_run(const fs::path& folder) {
    const auto has = [&](const char* file) { return ::access((folder / file).c_str(), F_OK) == 0; };
    if (const auto settings = read_mode(folder / "config.json");
        settings && (has("lock") || has("events.jsonl")))
        return settings;
    // One that is being made or unpacked, or the history itself.
    const bool is_ours = (has("lock") && has("lease.1")) || has("index.lock");
    return is_ours ? std::optional(private_mode()) : std::nullopt;
}

/// Mode of the run in whose folder this path lies. An import unpacks a run into a folder of one
/// that is being made, and a checkpoint into a folder of that.
std::optional<mode_t> mode_in_run(const fs::path& path) {
    fs::path folder = path.parent_path();
    for (int i = 0; i < deepest && !folder.empty(); ++i, folder = folder.parent_path())
        if (const auto mode = mode_of_run(folder)) return mode;
    return std::nullopt;
}

/// A group that shares its runs shares them regardless of the umask.
bool is_shared(mode_t mode) { return (mode & 0020) != 0; }

/// Whether this folder in a run's folder, or one between them, is a symbolic link. The run's folder
/// itself may be one: people keep large runs on other disks.
bool leaves_run(fs::path folder) {
    bool linked = false;
    for (int i = 0; i < deepest && !folder.empty(); ++i, folder = folder.parent_path()) {
        std::error_code error;
        if (linked && ::access((folder / "config.json").c_str(), F_OK) == 0) return true;
        linked = linked || fs::is_symlink(folder, error);
    }
    return false;
}

template <typename Mode>
File open_with(const fs::path& path, int flags, Mode&& mode_of_new) {
    if ((flags & O_EXCL) == 0) {
        File there(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
        if (there.is_open() || errno != ENOENT) return there;
    }
    const mode_t mode = mode_of_new();
    File made(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode));
    if (made.is_open() && mode != everybody && is_shared(mode)) ::fchmod(made.descriptor(), mode);
    return made;
}

}  // namespace

File open_to_write(const fs::path& path, int flags) {
    return open_with(path, flags, [&] { return mode_in_run(path).value_or(everybody); });
}

File open_private(const fs::path& path, int flags) {
    return open_with(path, flags, [&] { return mode_in_run(path).value_or(private_mode()); });
}

int make_private_folder(const fs::path& folder) {
    const mode_t files = mode_in_run(folder).value_or(private_mode());
    const mode_t mode = files | ((files >> 2) & 0111);  // who may read it may enter it
    if (::mkdir(folder.c_str(), mode) != 0) return errno;
    // mkdir() ignores the bit that hands the group on.
    if (is_shared(files)) ::chmod(folder.c_str(), mode | S_ISGID);
    return 0;
}

void make_private_folders(const fs::path& folder, std::error_code& error) {
    error.clear();
    if (leaves_run(folder)) {
        error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
        return;
    }
    if (folder.empty() || fs::is_directory(folder)) return;
    const fs::path above = folder.parent_path();
    if (above != folder) make_private_folders(above, error);
    if (error) return;
    const int failure = make_private_folder(folder);
    if (failure == 0 || (failure == EEXIST && fs::is_directory(folder))) return;
    error = std::error_code(failure, std::generic_category());
}

}  // namespace engine
