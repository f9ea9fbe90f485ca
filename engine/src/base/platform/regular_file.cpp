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

/// Reads the first or the last `most` bytes.
std::optional<std::string> read_part(const std::filesystem::path& file, std::size_t most,
                                     bool at_end) {
    // Without O_NONBLOCK a FIFO would wait for its writer.
    const OpenFile opened{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct stat info {};
    if (opened.descriptor < 0 || ::fstat(opened.descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return std::nullopt;
    const auto size = static_cast<std::size_t>(info.st_size);
    std::string text(std::min(size, most), '\0');
    const std::size_t begin = at_end ? size - text.size() : 0;
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got = ::pread(opened.descriptor, text.data() + done, text.size() - done,
                                    static_cast<off_t>(begin + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

}  // namespace

std::optional<std::string> read_regular_file(const std::filesystem::path& file, std::size_t most) {
    return read_part(file, most, /*at_end=*/false);
}

std::optional<std::string> read_end_of_file(const std::filesystem::path& file, std::size_t most) {
    return read_part(file, most, /*at_end=*/true);
}

}  // namespace engine
