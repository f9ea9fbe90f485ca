#include "record/record_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/base/error.h"

namespace engine {
namespace {

bool is_same_file(const File& a, const File& b) {
    struct stat one {
    }, other{};
    return ::fstat(a.descriptor(), &one) == 0 && ::fstat(b.descriptor(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

File open_record_file(const std::filesystem::path& path) {
    return File(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

bool read_whole_at(const File& file, std::span<std::byte> out, std::int64_t offset) {
    while (!out.empty()) {
        const ssize_t got = ::pread(file.descriptor(), out.data(), out.size(), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out = out.subspan(static_cast<std::size_t>(got));
        offset += got;
    }
    return true;
}

bool is_possible(std::int64_t published, const record_layout::Layout& layout,
                 std::int64_t file_bytes) {
    constexpr std::int64_t most_rows = std::int64_t{1} << 40;
    return published >= 0 && published <= most_rows && layout.file_bytes(published) <= file_bytes;
}

std::optional<LatestRecord> reopen_record(const std::filesystem::path& path, const File& first,
                                          const record_layout::Layout& layout,
                                          std::uint64_t checksum, std::int64_t least) {
    File file = open_record_file(path);
    record_layout::Header header;
    const auto bytes = std::as_writable_bytes(std::span(&header, 1));
    const bool whole = file.is_open() && is_same_file(file, first) &&
                       read_whole_at(file, bytes, 0) && header.checksum == checksum &&
                       record_layout::checksum(header) == checksum && header.published >= least &&
                       is_possible(header.published, layout, file.size());
    if (!whole) return std::nullopt;
    return LatestRecord{std::move(file), header.published};
}

void throw_record_changed(const std::filesystem::path& path) {
    throw Error(ErrorCode::data,
                msg("{}: another program replaced, removed or cut short the record while it was "
                    "being read",
                    path.string()),
                msg("Open the run again, and leave its folder alone while it trains."));
}

void throw_record_cut(const std::filesystem::path& path) {
    throw Error(ErrorCode::data,
                msg("{}: the record was cut short by another program", path.string()),
                msg("Restore the file from a copy."));
}

void throw_record_short(const std::filesystem::path& path, std::int64_t rows) {
    throw Error(ErrorCode::data,
                msg("{}: the record is cut off: the file is too short for its {} rows",
                    path.string(), rows),
                msg("Restore the file from a copy."));
}

void throw_record_unreadable(const std::filesystem::path& path, int error) {
    throw Error(ErrorCode::data, msg("{}: cannot map the record: {}", path.string(),
                                     std::generic_category().message(error)));
}

}  // namespace engine
