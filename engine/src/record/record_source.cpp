#include "record/record_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "io/file/mapped_access.h"

namespace engine {
namespace {

bool is_same_file(const File& a, const File& b) {
    struct stat one {
    }, other{};
    return ::fstat(a.descriptor(), &one) == 0 && ::fstat(b.descriptor(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

class MappedRecord final : public RecordSource {
public:
    MappedRecord(OpenRecord record, Mapping header)
        : path_(std::move(record.path)),
          file_(std::move(record.file)),
          header_(std::move(header)),
          layout_(std::move(record.layout)),
          checksum_(record.header.checksum),
          known_(record.header.published),
          max_mapped_(record.max_mapped) {}

    std::int64_t published() override {
        const auto* h = reinterpret_cast<const record_layout::Header*>(header_.data());
        std::int64_t before = known_;  // read first: it was stored after that many were published
        const MappedAccess access(header_);
        const std::int64_t now = __atomic_load_n(&h->published, __ATOMIC_ACQUIRE);
        if (now == before) return now;
        // Fewer rows than before, or more than the file can hold: the header was overwritten.
        if (now < before || !is_possible(now, layout_, file_.size())) {
            damaged_ = true;
            return before;
        }
        while (before < now && !known_.compare_exchange_weak(before, now)) {
        }
        return now;
    }

    void read(const record_layout::Chunk& chunk, std::int64_t row, std::int64_t,
              const std::function<void(const ColumnAt&)>& copy) override {
        const auto mapping = chunk_at(chunk);
        {
            const MappedAccess access(*mapping);
            copy([&](std::int64_t start, std::size_t item_bytes) {
                return mapping->data() + start * chunk.rows +
                       row * static_cast<std::int64_t>(item_bytes);
            });
        }
        check_whole(*mapping, chunk);
    }

    void check() override {
        if (damaged_ || !reopen_record(path_, file_, layout_, checksum_, known_))
            throw_record_changed(path_);
    }

private:
    struct Held {
        std::int64_t offset;
        std::shared_ptr<const Mapping> mapping;
    };

    /// Checks after copying that the file still held the chunk: the last page of a truncated file
    /// reads as zeros, without a fault.
    void check_whole(const Mapping& mapping, const record_layout::Chunk& chunk) const {
        const bool whole =
            !mapping.is_lost() && !damaged_ && file_.size() >= chunk.offset + chunk.bytes;
        if (!whole) throw_record_cut(path_);
    }

    /// Keeps only recently used chunks mapped; a run of hours would otherwise fill the memory. A
    /// reader holds its chunk by the shared pointer.
    std::shared_ptr<const Mapping> chunk_at(const record_layout::Chunk& chunk) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& each) {
            return each.offset == chunk.offset;
        });
        if (found != held_.end()) {
            std::rotate(found, found + 1, held_.end());
            return held_.back().mapping;
        }
        auto mapping = std::make_shared<const Mapping>(map(chunk));
        if (held_.size() == max_mapped_) held_.erase(held_.begin());
        held_.push_back({chunk.offset, mapping});
        return mapping;
    }

    Mapping map(const record_layout::Chunk& chunk) const {
        if (file_.size() < chunk.offset + chunk.bytes) throw_record_short(path_, known_);
        Mapping mapping(file_, chunk.offset, chunk.bytes, Mapping::Access::read);
        if (mapping.data() == nullptr) throw_record_unreadable(path_, errno);
        return mapping;
    }

    const std::filesystem::path path_;
    const File file_;
    const Mapping header_;
    const record_layout::Layout layout_;
    const std::uint64_t checksum_;
    std::atomic<std::int64_t> known_;   ///< the highest count that was read
    std::atomic<bool> damaged_{false};  ///< an impossible one came after it
    const std::size_t max_mapped_;
    std::mutex mutex_;        ///< guards held_
    std::vector<Held> held_;  ///< latest used last
};

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds poll_interval{250};  // the window draws four times a second

class PolledRecord final : public RecordSource {
public:
    explicit PolledRecord(OpenRecord record)
        : path_(std::move(record.path)),
          layout_(std::move(record.layout)),
          checksum_(record.header.checksum),
          file_(std::make_shared<const File>(std::move(record.file))),
          known_(record.header.published) {}

    std::int64_t published() override {
        const std::lock_guard lock(mutex_);
        if (!damaged_ && Clock::now() - polled_ >= poll_interval) poll();
        return known_;
    }

    void read(const record_layout::Chunk& chunk, std::int64_t row, std::int64_t rows,
              const std::function<void(const ColumnAt&)>& copy) override {
        const auto file = current_file();
        std::vector<std::byte> values;
        copy([&](std::int64_t start, std::size_t item_bytes) {
            const auto item = static_cast<std::int64_t>(item_bytes);
            values.resize(static_cast<std::size_t>(rows * item));
            const std::int64_t offset = chunk.offset + start * chunk.rows + row * item;
            if (!read_whole_at(*file, values, offset)) throw_record_changed(path_);
            return std::as_const(values).data();
        });
    }

    void check() override { (void)current_file(); }

private:
    std::shared_ptr<const File> current_file() {
        const std::lock_guard lock(mutex_);
        if (damaged_) throw_record_changed(path_);
        return file_;
    }

    /// Requires mutex_. Opening is what makes a network file system look at the server again.
    void poll() {
        polled_ = Clock::now();
        auto latest = reopen_record(path_, *file_, layout_, checksum_, known_);
        damaged_ = !latest;
        if (damaged_) return;
        known_ = latest->published;
        file_ = std::make_shared<const File>(std::move(latest->file));
    }

    const std::filesystem::path path_;
    const record_layout::Layout layout_;
    const std::uint64_t checksum_;
    std::mutex mutex_;                  ///< guards what follows
    std::shared_ptr<const File> file_;  ///< opened last; who reads from one that goes keeps it
    std::int64_t known_;
    Clock::time_point polled_ = Clock::now();
    bool damaged_ = false;  ///< removed, replaced, cut short or overwritten
};

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
    constexpr std::int64_t max_rows = std::int64_t{1} << 40;
    return published >= 0 && published <= max_rows && layout.file_bytes(published) <= file_bytes;
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

std::unique_ptr<RecordSource> map_record(OpenRecord record) {
    const auto page = static_cast<std::int64_t>(record_layout::page_bytes);
    Mapping header(record.file, 0, page, Mapping::Access::read);
    if (header.data() == nullptr) throw_record_unreadable(record.path, errno);
    return std::make_unique<MappedRecord>(std::move(record), std::move(header));
}

std::unique_ptr<RecordSource> poll_record(OpenRecord record) {
    return std::make_unique<PolledRecord>(std::move(record));
}

}  // namespace engine
