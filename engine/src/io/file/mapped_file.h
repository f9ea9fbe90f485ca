#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace engine {

/// An open file. Closed by the destructor.
class File {
public:
    File() = default;
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File();
    File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

    int descriptor() const { return descriptor_; }
    bool is_open() const { return descriptor_ >= 0; }
    /// Bytes in the file; -1 if that cannot be found.
    std::int64_t size() const;

private:
    int descriptor_ = -1;
};

/// Pages of a file in memory, shared with every other process that maps them. The caller makes sure
/// that the file holds the range. Another program may cut the file short later, so pages are
/// touched under a MappedAccess (mapped_access.h).
class Mapping {
public:
    enum class Access { read, read_write };

    Mapping() = default;
    /// data() is null if the system refuses; errno then says why. `offset` is a multiple of the
    /// page.
    Mapping(const File& file, std::int64_t offset, std::int64_t bytes, Access access);
    ~Mapping();
    Mapping(Mapping&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          lost_(std::move(other.lost_)) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(lost_, other.lost_);
        return *this;
    }

    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }
    /// True once a page was touched that the file no longer holds; for good.
    bool is_lost() const { return lost_->load(std::memory_order_relaxed); }

private:
    friend struct BusErrorHandler;
    void set_lost() const { lost_->store(true, std::memory_order_relaxed); }

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::unique_ptr<std::atomic<bool>> lost_ = std::make_unique<std::atomic<bool>>(false);
};

/// Whether the file lies on a file system that another machine may write too (NFS, SMB, FUSE and
/// their like). A mapping of such a file need not show what the other machine writes.
bool is_on_network(const File& file);

}  // namespace engine
