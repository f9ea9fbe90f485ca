#include "io/file/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <cerrno>

#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace {

std::atomic<FileLock::Function> flock_function{&::flock};

int lock(const File& file, int operation) {
    return flock_function.load()(file.descriptor(), operation);
}

File opened_to_lock(const std::filesystem::path& path) {
    File file = open_private(path, O_RDWR);
    if (!file.is_open()) throw_write_error(path, errno);
    return file;
}

}  // namespace

void FileLock::replace_flock(Function function) {
    flock_function = function != nullptr ? function : &::flock;
}

FileLock FileLock::take(const std::filesystem::path& path) {
    File file = opened_to_lock(path);
    int result = -1;
    do {
        result = lock(file, LOCK_EX);
    } while (result != 0 && errno == EINTR);
    // A file system without locks fails here; runs work there all the same.
    return FileLock(std::move(file));
}

std::optional<FileLock> FileLock::try_take(const std::filesystem::path& path) {
    File file = opened_to_lock(path);
    if (lock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return FileLock(std::move(file));
}

bool FileLock::is_held(const std::filesystem::path& path) {
    const File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open()) return false;
    // Shared, so that two simultaneous queries do not mistake each other for the holder.
    return lock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace engine
