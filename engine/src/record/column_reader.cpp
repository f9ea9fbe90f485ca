#include "record/column_reader.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "io/file/network_file.h"

namespace engine {
namespace {

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
    OpenRecord record{file.path, std::move(from), header, layout, file.most_mapped};
    return polled ? poll_record(std::move(record)) : map_record(std::move(record));
}

}  // namespace

ColumnReader::ColumnReader(const ColumnFile& file) : ColumnReader(file, opened(file)) {}

ColumnReader::ColumnReader(const ColumnFile& file, File opened)
    : header_(checked_header(file, opened)),
      layout_(header_),
      source_(source_of(file, std::move(opened), header_, layout_)) {}

}  // namespace engine
