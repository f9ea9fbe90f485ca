#include "base/platform/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace engine {
namespace {

/// Closes the descriptor, which is below 0 if the file could not be opened.
struct OpenFile {
    int descriptor;
    ~OpenFile() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

}  // namespace

std::optional<std::string> read_regular_file(const std::filesystem::path& file, std::size_t most) {
    // Without O_NONBLOCK a FIFO would wait for its writer.
    const OpenFile opened{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct stat info {};
    if (opened.descriptor < 0 || ::fstat(opened.descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return std::nullopt;
    std::string text(std::min(static_cast<std::size_t>(info.st_size), most), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got = ::pread(opened.descriptor, text.data() + done, text.size() - done,
                                    static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

}  // namespace engine
