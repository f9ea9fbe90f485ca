#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "engine/error.h"
#include "file/mapped_access.h"
#include "store/step_record.h"

namespace engine {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void throw_io(const std::filesystem::path& path, int error) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    if (full) {
        throw Error(ErrorCode::io,
                    msg("{}: the disk is full, the step record cannot grow", path.string()),
                    msg("Free some space, or give another folder for the run."));
    }
    throw Error(ErrorCode::io,
                msg("{}: cannot write the step record: {}", path.string(), reason(error)),
                msg("Give another folder for the run."));
}

/// Takes room on the disk now, so that a write to the mapping cannot fail later.
void reserve(const File& file, std::int64_t offset, std::int64_t bytes,
             const std::filesystem::path& path) {
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(file.descriptor(), offset, bytes);
    if (error != 0) throw_io(path, error);
}

void write_header(const File& file, const std::filesystem::path& path, std::size_t metrics) {
    const record_layout::Header header = record_layout::make_header(metrics);
    const auto written = ::pwrite(file.descriptor(), &header, sizeof header, 0);
    if (written < 0) throw_io(path, errno);
    if (written != static_cast<ssize_t>(sizeof header)) throw_io(path, ENOSPC);
}

}  // namespace

StepRecordWriter StepRecordWriter::create(const std::filesystem::path& run_folder,
                                          std::size_t metrics) {
    const auto path = run_folder / record_layout::file_name;
    if (::access(path.c_str(), F_OK) == 0) throw_io(path, EEXIST);
    // Renamed when its header is whole: no reader could make sense of a part, which a killed
    // process or a full disk would leave.
    const std::string part = path.string() + ".part";
    File file(::open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.is_open()) throw_io(path, errno);
    try {
        const auto page = static_cast<std::int64_t>(record_layout::page_bytes);
        reserve(file, 0, page, path);
        write_header(file, path, metrics);
        Mapping header(file, 0, page, Mapping::Access::read_write);
        if (header.data() == nullptr) throw_io(path, errno);
        if (::rename(part.c_str(), path.c_str()) != 0) throw_io(path, errno);
        return {std::move(file), std::move(header), path, metrics};
    } catch (const Error&) {
        ::unlink(part.c_str());
        throw;
    }
}

StepRecordWriter StepRecordWriter::open(const std::filesystem::path& run_folder, std::int64_t rows,
                                        std::size_t metrics) {
    const auto path = run_folder / record_layout::file_name;
    // A process that was killed as it made the run left none.
    if (rows == 0 && ::access(path.c_str(), F_OK) != 0) return create(run_folder, metrics);
    const auto refuse = [&](Message message) {
        throw Error(ErrorCode::data, std::move(message),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    };
    File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open()) throw_io(path, errno);
    record_layout::Header found;
    if (::pread(file.descriptor(), &found, sizeof found, 0) != static_cast<ssize_t>(sizeof found))
        refuse(msg("{}: the step record is cut short", path.string()));
    record_layout::check_header(found, path);
    if (found.checksum != record_layout::make_header(metrics).checksum) {
        refuse(
            msg("{}: the step record is of another version of this program, which cannot go on "
                "with it",
                path.string()));
    }
    const auto page = static_cast<std::int64_t>(record_layout::page_bytes);
    Mapping header(file, 0, page, Mapping::Access::read_write);
    if (header.data() == nullptr) throw_io(path, errno);
    StepRecordWriter writer(std::move(file), std::move(header), path, metrics);
    if (rows > found.published || writer.file_.size() < writer.layout_.file_bytes(rows))
        refuse(msg("{}: the step record ends before step {}", path.string(), rows));
    writer.go_on_after(rows);
    return writer;
}

/// The chunk that holds the next row may be there already.
void StepRecordWriter::go_on_after(std::int64_t rows) {
    publish(rows);
    if (rows == 0) return;
    const record_layout::Chunk last = layout_.chunk(layout_.chunk_of(rows - 1));
    use_chunk(last);
    row_ = rows - last.first_row;
}

StepRecordWriter::StepRecordWriter(File file, Mapping header, std::filesystem::path path,
                                   std::size_t metrics)
    : path_(std::move(path)),
      metrics_(metrics),
      file_(std::move(file)),
      header_(std::move(header)),
      layout_(record_layout::make_header(metrics)) {}

void StepRecordWriter::append(const StepRecord& record) {
    if (row_ == rows_) next_chunk();
    const MappedAccess columns(chunk_);
    std::size_t field = 0;
    for_each_field([&](const char* name, auto member) {
        if (record_layout::metric_number(name) > metrics_) return;
        const auto& value = record.*member;
        std::memcpy(columns_[field++] + row_ * static_cast<std::int64_t>(sizeof value), &value,
                    sizeof value);
    });
    if (chunk_.is_lost()) throw_lost();
    publish(published_ + 1);
    ++row_;
}

void StepRecordWriter::publish(std::int64_t rows) {
    const MappedAccess access(header_);
    auto* const published = &reinterpret_cast<record_layout::Header*>(header_.data())->published;
    __atomic_store_n(published, rows, __ATOMIC_RELEASE);
    if (header_.is_lost()) throw_lost();
    published_ = rows;
}

void StepRecordWriter::check() const {
    const record_layout::Header expected = record_layout::make_header(metrics_);
    record_layout::Header found;
    {
        const MappedAccess access(header_);
        std::memcpy(&found, header_.data(), sizeof found);
    }
    const bool whole = ::access(path_.c_str(), F_OK) == 0 && file_.size() >= bytes_so_far() &&
                       found.published == published_ && found.checksum == expected.checksum &&
                       record_layout::checksum(found) == expected.checksum;
    if (!whole) throw_lost();
}

std::int64_t StepRecordWriter::bytes_so_far() const {
    return layout_.file_bytes(published_ - row_ + rows_);
}

void StepRecordWriter::throw_lost() const {
    throw Error(ErrorCode::data,
                msg("{}: another program removed, cut short or overwrote the step record while the "
                    "run was writing it",
                    path_.string()),
                msg("The steps in it are lost. Start the run again, and leave its folder alone "
                    "while it trains."));
}

void StepRecordWriter::next_chunk() {
    // Room for the next chunk would give a file that was cut short its old length, full of zeros.
    if (file_.size() < bytes_so_far()) throw_lost();
    const record_layout::Chunk next = layout_.chunk(layout_.chunk_of(published_));
    reserve(file_, next.offset, next.bytes, path_);
    use_chunk(next);
}

void StepRecordWriter::use_chunk(const record_layout::Chunk& chunk) {
    Mapping mapping(file_, chunk.offset, chunk.bytes, Mapping::Access::read_write);
    if (mapping.data() == nullptr) throw_io(path_, errno);
    chunk_ = std::move(mapping);
    const auto& starts = layout_.column_starts();
    for (std::size_t i = 0; i < starts.size(); ++i) {
        columns_[i] = chunk_.data() + starts[i] * chunk.rows;
    }
    row_ = 0;
    rows_ = chunk.rows;
}

StepRecordReader StepRecordWriter::reader() const {
    return StepRecordReader::open(path_.parent_path());
}

}  // namespace engine
