#include "file/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/error.h"
#include "file/file_modes.h"

namespace engine {
namespace {

void write_all(const File& file, std::span<const std::byte> bytes,
               const std::filesystem::path& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_write_error(path, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

}  // namespace

void throw_write_error(const std::filesystem::path& path, int error) {
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        throw Error(ErrorCode::io, msg("{}: the disk is full", path.string()),
                    msg("Free some space, or give another folder."));
    }
    throw Error(
        ErrorCode::io,
        msg("{}: cannot be written: {}", path.string(), std::generic_category().message(error)),
        msg("Give a folder that can be written."));
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)),
      written_(path_.string() + "." + std::to_string(::getpid()) + ".part") {
    file_ = open_to_write(written_, O_WRONLY | O_TRUNC);
    if (!file_.is_open()) throw_write_error(path_, errno);
}

AtomicFile::~AtomicFile() {
    if (!committed_) ::unlink(written_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) { write_all(file_, bytes, path_); }

void AtomicFile::commit() {
    if (::fsync(file_.descriptor()) != 0) throw_write_error(path_, errno);
    if (::rename(written_.c_str(), path_.c_str()) != 0) throw_write_error(path_, errno);
    committed_ = true;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

void append_to_file(const std::filesystem::path& path, std::string_view text) {
    const File file = open_to_write(path, O_WRONLY | O_APPEND);
    if (!file.is_open()) throw_write_error(path, errno);
    write_all(file, std::as_bytes(std::span(text)), path);
}

}  // namespace engine
