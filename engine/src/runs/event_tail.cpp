#include "runs/event_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/error.h"
#include "io/file/mapped_file.h"

namespace engine {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 20;

}  // namespace

void LineTail::check_same(std::uint64_t device, std::uint64_t inode, std::int64_t size) {
    if (!std::exchange(found_, true)) {
        device_ = device;
        inode_ = inode;
    }
    if (device == device_ && inode == inode_ && size >= offset_) return;
    throw Error(ErrorCode::data,
                msg("{}: another program replaced or cut short the events while they were being "
                    "read",
                    path_.string()),
                msg("Open the run again, and leave its folder alone while it trains."));
}

bool LineTail::read(const std::function<void(std::string_view)>& take) {
    // Opened again, so that a network file system asks its server.
    const File file(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!file.is_open() || ::fstat(file.descriptor(), &info) != 0) return false;
    if (!S_ISREG(info.st_mode))
        throw Error(ErrorCode::data, msg("{}: not a plain file", path_.string()));
    check_same(info.st_dev, info.st_ino, info.st_size);
    if (info.st_size == offset_) return false;
    std::string bytes(most_at_once, '\0');
    const ssize_t got = ::pread(file.descriptor(), bytes.data(), bytes.size(), offset_);
    if (got <= 0) return false;
    bytes.resize(static_cast<std::size_t>(got));
    offset_ += got;
    rest_ += bytes;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
        take(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
    if (rest_.size() > most_at_once) {
        throw Error(ErrorCode::data,
                    msg("{}: a line of the events is longer than 1 MiB", path_.string()));
    }
    return offset_ < info.st_size;
}

}  // namespace engine
