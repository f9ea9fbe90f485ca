#include "record/column_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/file/file_modes.h"

namespace engine {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void throw_io(const std::filesystem::path& path, int error) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    if (full) {
        throw Error(ErrorCode::io,
                    msg("{}: the disk is full, the record cannot grow", path.string()),
                    msg("Free some space, or give another folder for the run."));
    }
    throw Error(ErrorCode::io, msg("{}: cannot write the record: {}", path.string(), reason(error)),
                msg("Give another folder for the run."));
}

/// Takes room on the disk now, so that a write to the mapping cannot fail later.
void reserve(const File& file, std::int64_t offset, std::int64_t bytes,
             const std::filesystem::path& path) {
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(file.descriptor(), offset, bytes);
    if (error != 0) throw_io(path, error);
}

void write_header(const File& file, const std::filesystem::path& path,
                  const record_layout::Header& header) {
    const auto written = ::pwrite(file.descriptor(), &header, sizeof header, 0);
    if (written < 0) throw_io(path, errno);
    if (written != static_cast<ssize_t>(sizeof header)) throw_io(path, ENOSPC);
}

constexpr auto page = static_cast<std::int64_t>(record_layout::page_bytes);

File opened(const ColumnFile& file) {
    File out = open_record_file(file.path);
    if (!out.is_open()) throw file.missing(file.path, std::generic_category().message(errno));
    return out;
}

record_layout::Header checked_header(const ColumnFile& file, const File& from) {
    const std::int64_t bytes = from.size();
    record_layout::Header header{};
    // Read, not mapped: a page that is cut off meanwhile is then an error and not a signal.
    (void)read_whole_at(from, std::as_writable_bytes(std::span(&header, 1)), 0);
    file.check(header, file.path, bytes);
    return header;
}

std::unique_ptr<RecordSource> source_of(const ColumnFile& file, File from,
                                        const record_layout::Header& header,
                                        const record_layout::Layout& layout) {
    // The size is read after the count: a running writer may have grown the file meanwhile.
    if (!is_possible(header.published, layout, from.size()))
        throw_record_short(file.path, header.published);
    const bool polled = file.access == RecordAccess::polled ||
                        (file.access == RecordAccess::automatic && is_on_network(from));
    OpenRecord record{file.path, std::move(from), header, layout, file.max_mapped};
    return polled ? poll_record(std::move(record)) : map_record(std::move(record));
}

}  // namespace

ColumnWriter ColumnWriter::create(const std::filesystem::path& path,
                                  const record_layout::Header& header) {
    if (::access(path.c_str(), F_OK) == 0) throw_io(path, EEXIST);
    // Renamed once its header is whole: readers could not use a partial one, which a killed process
    // or a full disk would leave.
    const std::string part = path.string() + ".part";
    File file = open_to_write(part, O_RDWR | O_TRUNC);
    if (!file.is_open()) throw_io(path, errno);
    try {
        reserve(file, 0, page, path);
        write_header(file, path, header);
        ColumnWriter writer(std::move(file), path, header);
        if (::rename(part.c_str(), path.c_str()) != 0) throw_io(path, errno);
        return writer;
    } catch (const Error&) {
        ::unlink(part.c_str());
        throw;
    }
}

File open_columns(const std::filesystem::path& path) {
    File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open()) throw_io(path, errno);
    return file;
}

ColumnWriter::ColumnWriter(File file, std::filesystem::path path,
                           const record_layout::Header& header)
    : path_(std::move(path)),
      file_(std::move(file)),
      header_(file_, 0, page, Mapping::Access::read_write),
      checksum_(header.checksum),
      layout_(header),
      columns_(header.column_count) {
    if (header_.data() == nullptr) throw_io(path_, errno);
}

/// The chunk that holds the next row may be there already.
void ColumnWriter::go_on_after(std::int64_t rows) {
    written_ = rows;
    publish();
    row_ = rows_ = 0;
    if (rows == 0) return;
    const record_layout::Chunk last = layout_.chunk(layout_.chunk_of(rows - 1));
    use_chunk(last);
    row_ = rows - last.first_row;
}

void ColumnWriter::publish() {
    const MappedAccess access(header_);
    auto* const published = &reinterpret_cast<record_layout::Header*>(header_.data())->published;
    __atomic_store_n(published, written_, __ATOMIC_RELEASE);
    if (header_.is_lost()) throw_lost();
    published_ = written_;
}

void ColumnWriter::check() const {
    record_layout::Header found;
    {
        const MappedAccess access(header_);
        std::memcpy(&found, header_.data(), sizeof found);
    }
    const bool whole = ::access(path_.c_str(), F_OK) == 0 && file_.size() >= bytes_so_far() &&
                       found.published == published_ && found.checksum == checksum_ &&
                       record_layout::checksum(found) == checksum_;
    if (!whole) throw_lost();
}

std::int64_t ColumnWriter::bytes_so_far() const {
    return layout_.file_bytes(written_ - row_ + rows_);
}

void ColumnWriter::throw_lost() const {
    throw Error(ErrorCode::data,
                msg("{}: another program removed, cut short or overwrote the record while the run "
                    "was writing it",
                    path_.string()),
                msg("The steps in it are lost. Start the run again, and leave its folder alone "
                    "while it trains."));
}

void ColumnWriter::next_chunk() {
    // Room for the next chunk would give a file that was cut short its old length, full of zeros.
    if (file_.size() < bytes_so_far()) throw_lost();
    const record_layout::Chunk next = layout_.chunk(layout_.chunk_of(written_));
    reserve(file_, next.offset, next.bytes, path_);
    use_chunk(next);
}

void ColumnWriter::use_chunk(const record_layout::Chunk& chunk) {
    Mapping mapping(file_, chunk.offset, chunk.bytes, Mapping::Access::read_write);
    if (mapping.data() == nullptr) throw_io(path_, errno);
    chunk_ = std::move(mapping);
    const auto& starts = layout_.column_starts();
    for (std::size_t i = 0; i < starts.size(); ++i)
        columns_[i] = chunk_.data() + starts[i] * chunk.rows;
    row_ = 0;
    rows_ = chunk.rows;
}

ColumnReader::ColumnReader(const ColumnFile& file) : ColumnReader(file, opened(file)) {}

ColumnReader::ColumnReader(const ColumnFile& file, File opened)
    : header_(checked_header(file, opened)),
      layout_(header_),
      source_(source_of(file, std::move(opened), header_, layout_)) {}

}  // namespace engine
