#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <vector>

#include "io/file/mapped_access.h"
#include "record/record_source.h"

namespace engine {
namespace {

class MappedRecord final : public RecordSource {
public:
    MappedRecord(OpenRecord record, Mapping header)
        : path_(std::move(record.path)),
          file_(std::move(record.file)),
          header_(std::move(header)),
          layout_(std::move(record.layout)),
          checksum_(record.header.checksum),
          known_(record.header.published),
          most_mapped_(record.most_mapped) {}

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
        if (held_.size() == most_mapped_) held_.erase(held_.begin());
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
    const std::size_t most_mapped_;
    std::mutex mutex_;        ///< guards held_
    std::vector<Held> held_;  ///< latest used last
};

}  // namespace

std::unique_ptr<RecordSource> map_record(OpenRecord record) {
    const auto page = static_cast<std::int64_t>(record_layout::page_bytes);
    Mapping header(record.file, 0, page, Mapping::Access::read);
    if (header.data() == nullptr) throw_record_unreadable(record.path, errno);
    return std::make_unique<MappedRecord>(std::move(record), std::move(header));
}

}  // namespace engine
