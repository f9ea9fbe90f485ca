#include "io/file/outside_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace engine {
namespace {

/// The file unless it is a device, a pipe, a folder, or has other names than allowed.
File regular_file(File opened, bool one_name) {
    struct stat info {};
    if (!opened.is_open() || ::fstat(opened.descriptor(), &info) != 0 || !S_ISREG(info.st_mode) || (one_name && info.st_nlink != 1)) return {};
    return opened;
}

}  // namespace

File open_outside_file(const std::filesystem::path& path) {
    return regular_file(File(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), false);
}

File open_beside(const std::filesystem::path& path, const std::string& name) {
    const std::filesystem::path parent = path.parent_path();
    const File folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return {};
    return regular_file(File(::openat(folder.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)), true);
}

bool read_at(const File& file, std::int64_t offset, std::int64_t bytes, std::string& out) {
    if (offset < 0 || bytes < 0 || offset > file.size() - bytes) return false;
    out.resize(static_cast<std::size_t>(bytes));
    for (std::int64_t done = 0; done < bytes;) {
        const auto got = ::pread(file.descriptor(), out.data() + done, static_cast<std::size_t>(bytes - done), offset + done);
        if (got <= 0) return false;
        done += got;
    }
    return true;
}

}  // namespace engine
