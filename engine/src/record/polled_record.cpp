#include <chrono>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "record/record_source.h"

namespace engine {
namespace {

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

    /// With mutex_ held. Opening is what makes a network file system look at the server again.
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

std::unique_ptr<RecordSource> poll_record(OpenRecord record) {
    return std::make_unique<PolledRecord>(std::move(record));
}

}  // namespace engine
