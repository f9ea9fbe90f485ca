#include "io/file/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace engine {

File::~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::int64_t File::size() const {
    struct stat info {};
    return ::fstat(descriptor_, &info) == 0 ? static_cast<std::int64_t>(info.st_size) : -1;
}

Mapping::Mapping(const File& file, std::int64_t offset, std::int64_t bytes, Access access) {
    const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
    void* address = ::mmap(nullptr, static_cast<std::size_t>(bytes), protection, MAP_SHARED,
                           file.descriptor(), offset);
    if (address == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(address);
    bytes_ = static_cast<std::size_t>(bytes);
}

Mapping::~Mapping() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace engine
