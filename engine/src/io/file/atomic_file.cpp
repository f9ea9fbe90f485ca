#include "io/file/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <iostream>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "io/file/file_modes.h"
#include "io/file/work_progress.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_unfinished = 32, max_path_size = 4096;

/// A signal handler reads these, so there is neither a lock nor memory that is reserved for them.
struct UnfinishedPlace {
    std::atomic<pid_t> owner{0};  ///< a forked process has the places of its parent, too
    std::array<char, max_path_size> path{};
};
static_assert(std::atomic<pid_t>::is_always_lock_free);

constexpr pid_t nobody = 0, being_filled = -1;
std::array<UnfinishedPlace, max_unfinished> unfinished_places;

constexpr mode_t mode_bits = 07777;

void write_all(const File& file, std::span<const std::byte> bytes, const fs::path& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_write_error(path, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

/// Whether the open file of that number is the one that was found.
bool is_at(int descriptor, const struct stat& found) {
    struct stat open {};
    return ::fstat(descriptor, &open) == 0 && open.st_dev == found.st_dev &&
           open.st_ino == found.st_ino;
}

/// Where a file is made by this name: behind symbolic links that lead nowhere yet.
fs::path end_of_links(fs::path path) {
    constexpr int max_links = 40;
    for (int i = 0; i < max_links; ++i) {
        std::error_code error;
        const fs::path next = fs::read_symlink(path, error);
        if (error) return path;
        path = path.parent_path() / next;  // just `next` if that is absolute
    }
    throw_write_error(path, ELOOP);
}

[[noreturn]] void throw_read_only(const fs::path& path) {
    throw Error(ErrorCode::io, msg("{}: the file is read-only", path.string()),
                msg("Allow writing to it (chmod u+w), or give another name."));
}

}  // namespace

void UnfinishedFile::note(const std::string& path) {
    forget();
    if (path.size() >= max_path_size) return;
    for (std::size_t i = 0; i < max_unfinished; ++i) {
        UnfinishedPlace& place = unfinished_places[i];
        pid_t free = nobody;
        if (!place.owner.compare_exchange_strong(free, being_filled)) continue;
        *std::ranges::copy(path, place.path.begin()).out = '\0';
        place.owner = ::getpid();
        place_ = i;
        return;
    }
}

void UnfinishedFile::forget() {
    if (const auto place = std::exchange(place_, std::nullopt))
        unfinished_places[*place].owner = nobody;
}

void remove_unfinished_files() noexcept {
    for (const UnfinishedPlace& place : unfinished_places)
        if (place.owner == ::getpid()) ::unlink(place.path.data());
}

void throw_write_error(const fs::path& path, int error) {
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        throw Error(ErrorCode::io, msg("{}: the disk is full", path.string()),
                    msg("Free some space, or give another folder."));
    }
    throw Error(
        ErrorCode::io,
        msg("{}: cannot be written: {}", path.string(), std::generic_category().message(error)),
        msg("Give a folder that can be written."));
}

AtomicFile::AtomicFile(fs::path path, NamedBy by) : path_(std::move(path)), place_(path_) {
    if (by == NamedBy::person) {
        open_named();
    } else {
        open_beside();
    }
}

AtomicFile::~AtomicFile() {
    if (!committed_ && !written_.empty()) ::unlink(written_.c_str());
}

void AtomicFile::name_beside() {
    written_ = place_.string() + "." + std::to_string(::getpid()) + ".part";
    unfinished_.note(written_.string());
}

/// A new file has the mode of its folder's files.
void AtomicFile::open_beside() {
    name_beside();
    file_ = open_to_write(written_, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    if (!file_.is_open()) throw_write_error(path_, errno);
}

void AtomicFile::open_named() {
    struct stat found {};
    if (::stat(path_.c_str(), &found) != 0) {
        if (errno != ENOENT) throw_write_error(path_, errno);
        place_ = end_of_links(path_);
        return open_beside();
    }
    if (S_ISDIR(found.st_mode)) throw_write_error(path_, EISDIR);
    if (is_at(STDOUT_FILENO, found)) {
        // Another opening of the file would begin at its start, and what is printed later would
        // overwrite it.
        std::cout.flush();
        file_ = File(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
        if (!file_.is_open()) throw_write_error(path_, errno);
    } else if (S_ISREG(found.st_mode)) {
        replace(found);
    } else {
        write_into(0);
    }
}

/// Replaces a regular file.
void AtomicFile::replace(const struct stat& old) {
    constexpr mode_t any_may_write = S_IWUSR | S_IWGRP | S_IWOTH;
    if ((old.st_mode & any_may_write) == 0 ||
        ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0)
        throw_read_only(path_);
    std::error_code error;
    place_ = fs::canonical(path_, error);
    if (error) throw_write_error(path_, error.value());
    name_beside();
    file_ = File(
        ::open(written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_.is_open()) {
        written_.clear();
        unfinished_.forget();
        // The folder may not be writable where the file is.
        if (errno != EACCES && errno != EPERM) throw_write_error(path_, errno);
        return write_into(O_TRUNC);
    }
    struct stat made {};
    const bool known = ::fstat(file_.descriptor(), &made) == 0;
    const bool owned = known && made.st_uid == old.st_uid && made.st_gid == old.st_gid;
    const bool kept = (owned || ::fchown(file_.descriptor(), old.st_uid, old.st_gid) == 0) &&
                      ::fchmod(file_.descriptor(), old.st_mode & mode_bits) == 0;
    in_place_ = old.st_nlink > 1 || !kept;
}

void AtomicFile::write_into(int flags) {
    file_ = File(::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | flags));
    if (!file_.is_open()) throw_write_error(path_, errno);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    // In pieces, so that work on a large file can be given up.
    constexpr std::size_t piece = std::size_t{4} << 20;
    do {
        poll_work();
        const auto part = bytes.first(std::min(bytes.size(), piece));
        write_all(file_, part, path_);
        bytes = bytes.subspan(part.size());
    } while (!bytes.empty());
}

void AtomicFile::commit() {
    // A pipe or a terminal cannot be brought to a disk.
    const bool synced = ::fsync(file_.descriptor()) == 0;
    if (!synced && (!written_.empty() || (errno != EINVAL && errno != ENOTSUP && errno != EROFS)))
        throw_write_error(path_, errno);
    if (in_place_) return copy_into_place();
    if (!written_.empty() && ::rename(written_.c_str(), place_.c_str()) != 0)
        throw_write_error(path_, errno);
    committed_ = true;
}

/// Leaves the old file's other names, or an owner that cannot be given to a new one, in place.
void AtomicFile::copy_into_place() {
    const File from(::open(written_.c_str(), O_RDONLY | O_CLOEXEC));
    const File to(::open(place_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!from.is_open() || !to.is_open()) throw_write_error(path_, errno);
    std::array<std::byte, 1 << 16> block{};
    for (;;) {
        const ssize_t got = ::read(from.descriptor(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_write_error(path_, errno);
        if (got == 0) break;
        write_all(to, std::span(block).first(static_cast<std::size_t>(got)), path_);
    }
    if (::ftruncate(to.descriptor(), from.size()) != 0 || ::fsync(to.descriptor()) != 0)
        throw_write_error(path_, errno);
}

void write_file(const fs::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

void write_named_file(const fs::path& path, std::string_view text) {
    constexpr std::size_t piece = std::size_t{64} << 10;
    AtomicFile file(path, NamedBy::person);
    // Progress of a text that is written in one piece would say nothing.
    RestOfWork work(text.size() > piece ? text.size() : 0);
    do {
        const std::string_view part = text.substr(0, piece);
        file.write(part);
        work.add(part.size());
        text.remove_prefix(part.size());
    } while (!text.empty());
    file.commit();
}

bool is_standard_output(const fs::path& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && is_at(STDOUT_FILENO, found);
}

void append_lines(const fs::path& path, std::string_view lines) {
    const File file = open_to_write(path, O_RDWR | O_APPEND);
    if (!file.is_open()) throw_write_error(path, errno);
    const std::int64_t size = file.size();
    char last = '\n';
    const bool is_cut = size > 0 && ::pread(file.descriptor(), &last, 1, size - 1) == 1 &&
                        last != '\n';
    const std::string whole = (is_cut ? "\n" : "") + std::string(lines);
    write_all(file, std::as_bytes(std::span(whole)), path);
}

}  // namespace engine
