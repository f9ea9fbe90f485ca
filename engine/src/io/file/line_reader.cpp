#include "io/file/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace engine {

LineReader::LineReader(const std::filesystem::path& file, std::size_t longest)
    // Without O_NONBLOCK a FIFO would wait for its writer.
    : file_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), longest_(longest) {
    struct stat info {};
    if (file_.is_open() && ::fstat(file_.descriptor(), &info) == 0 && S_ISREG(info.st_mode))
        left_ = info.st_size;
}

/// Reads the next block; false at the end.
bool LineReader::fill() {
    constexpr std::int64_t block = std::int64_t{64} << 10;
    buffer_.resize(static_cast<std::size_t>(std::min(block, left_)));
    at_ = 0;
    ssize_t got = 0;
    do {
        got = ::pread(file_.descriptor(), buffer_.data(), buffer_.size(), offset_);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) left_ = 0;
    buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    left_ -= std::min<std::int64_t>(left_, std::ssize(buffer_));
    offset_ += std::ssize(buffer_);
    return !buffer_.empty();
}

bool LineReader::next(std::string& line) {
    line.clear();
    bool too_long = false, any = false;
    for (;;) {
        if (at_ == buffer_.size() && (left_ == 0 || !fill())) {
            if (any) ++count_;
            return any && !too_long;
        }
        any = true;
        const std::size_t end = std::min(buffer_.find('\n', at_), buffer_.size());
        too_long = too_long || line.size() + (end - at_) > longest_;
        if (too_long)
            line.clear();
        else
            line.append(buffer_, at_, end - at_);
        at_ = end;
        if (end == buffer_.size()) continue;
        ++at_;
        ++count_;
        if (!too_long) return true;
        too_long = any = false;
    }
}

}  // namespace engine
