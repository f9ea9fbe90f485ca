#include "io/file/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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

bool is_on_network(const File& file) {
    // Numbers of statfs(2), the last five from the sources of their drivers.
    constexpr std::array<std::uint32_t, 12> types = {
        0x6969,      // NFS
        0xff534d42,  // CIFS
        0xfe534d42,  // SMB 2
        0x517b,      // SMB
        0x65735546,  // FUSE: sshfs and others
        0x01021997,  // 9P
        0x00c36400,  // Ceph
        0x5346414f,  // AFS
        0x0bd00bd0,  // Lustre
        0x47504653,  // GPFS
        0x19830326,  // BeeGFS
        0x786f4256,  // VirtualBox shared folder
    };
    struct statfs info {};
    if (::fstatfs(file.descriptor(), &info) != 0) return false;
    const auto type = static_cast<std::uint32_t>(info.f_type);
    return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace engine
