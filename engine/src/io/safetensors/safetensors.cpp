#include "io/safetensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "io/file/work_progress.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr char metadata_key[] = "__metadata__";
constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // as the format's own library has it
constexpr std::size_t max_header_depth = 3;              // file, tensor, list

[[noreturn]] void refuse(const std::filesystem::path& path, const Message& reason) {
    throw Error(ErrorCode::data,
                msg("{}: not a valid safetensors file: {}", path.string(), reason.str()),
                msg("Save the weights again, or give another file."));
}

/// Bytes of a tensor, or nothing if the product does not fit.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape, std::size_t item) {
    std::uint64_t bytes = item;
    for (const std::int64_t size : shape) {
        if (size < 0) return std::nullopt;
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return {};
    }
    return bytes;
}

[[noreturn]] void refuse_unreadable(const std::filesystem::path& path, const std::string& reason) {
    throw Error(ErrorCode::data, msg("{}: cannot be read: {}", path.string(), reason),
                msg("Give a safetensors file."));
}

/// A file that is read from front to back. Nothing is allocated before the file is known to be
/// large enough.
class Source {
public:
    explicit Source(const std::filesystem::path& path) : path_(path) {
        std::error_code error;
        const auto status = std::filesystem::status(path, error);
        if (!error && !std::filesystem::is_regular_file(status))
            refuse_unreadable(path, "it is not a regular file");
        if (!error) left_ = std::filesystem::file_size(path, error);
        if (!error) file_.open(path, std::ios::binary);
        if (error || !file_)
            refuse_unreadable(path, std::generic_category().message(error ? error.value() : errno));
    }

    std::uint64_t left() const { return left_; }

    template <typename Byte>
    void read(std::span<Byte> out) {
        static_assert(sizeof(Byte) == 1);
        const auto count = static_cast<std::streamsize>(out.size());
        if (out.size() > left_ || !file_.read(reinterpret_cast<char*>(out.data()), count))
            refuse(path_, msg("it became shorter while it was read"));
        left_ -= out.size();
    }

private:
    const std::filesystem::path& path_;
    std::ifstream file_;
    std::uint64_t left_ = 0;
};

/// The file's JSON header.
std::string read_header(Source& source, const std::filesystem::path& path) {
    const std::uint64_t all = source.left();
    if (all < length_bytes) refuse(path, msg("it ends after {} bytes", all));
    std::uint64_t length = 0;
    source.read(std::as_writable_bytes(std::span(&length, 1)));
    if (length > max_header_bytes || length > source.left())
        refuse(path, msg("it claims a header of {} bytes and has {} in all", length, all));
    std::string header(length, '\0');
    source.read(std::span(header));
    return header;
}

void check_fits_memory(const std::filesystem::path& path, std::uint64_t bytes) {
    const std::uint64_t memory = memory_limit();
    if (bytes <= memory / 2) return;  // the tensors are copied out of it
    throw Error(
        ErrorCode::data,
        msg("{}: its tensors take {} MiB, more than half of this machine's {} MiB of memory",
            path.string(), bytes >> 20, memory >> 20),
        msg("Give a file with fewer or smaller tensors."));
}

/// A tensor of the header, before its data are read.
struct Described {
    TensorEntry entry;
    std::uint64_t begin = 0;  ///< offsets into the data
    std::uint64_t end = 0;
};

/// Checks a header against the `data_bytes` that follow it in the file.
class HeaderReader {
public:
    HeaderReader(const std::filesystem::path& path, std::string_view text, std::uint64_t data_bytes)
        : path_(path), text_(text), data_bytes_(data_bytes) {}

    /// The tensors in the order of their data.
    std::vector<Described> read(std::map<std::string, std::string>& metadata) {
        const json header = parse();
        std::vector<Described> entries;
        for (const auto& [name, value] : header.items()) {
            if (name == metadata_key) {
                read_metadata(value, metadata);
            } else {
                entries.push_back(read_entry(name, value));
            }
        }
        check_cover(entries);
        return entries;
    }

private:
    json parse() {
        JsonFault fault;
        json header =
            read_json(text_, {.bytes = max_header_bytes, .depth = max_header_depth}, &fault);
        if (fault.kind == JsonFault::Kind::too_deep)
            refuse(path_, msg("its header is nested too deeply"));
        if (fault.kind == JsonFault::Kind::repeated)
            refuse(path_, msg("it names {} twice", fault.repeated.front()));
        if (!header.is_object()) refuse(path_, msg("its header is not a JSON object"));
        return header;
    }

    void read_metadata(const json& value, std::map<std::string, std::string>& metadata) {
        if (!value.is_object()) refuse(path_, msg("its metadata is not an object"));
        for (const auto& [key, text] : value.items()) {
            if (!text.is_string()) refuse(path_, msg("its metadata {} is not a text", key));
            metadata[key] = text.get<std::string>();
        }
    }

    Described read_entry(const std::string& name, const json& value) {
        if (!value.is_object()) refuse(path_, msg("tensor {} is not described by an object", name));
        TensorEntry entry;
        entry.name = name;
        const auto dtype = value.find("dtype");
        if (dtype == value.end() || !dtype->is_string())
            refuse(path_, msg("tensor {} has no dtype", name));
        entry.dtype = dtype->get<std::string>();
        const std::size_t item = safetensors_item_bytes(entry.dtype);
        if (item == 0)
            refuse(path_,
                   msg("tensor {} is of type {}, which is not supported", name, entry.dtype));
        for (const std::uint64_t size : numbers(name, value, "shape")) {
            if (size > static_cast<std::uint64_t>(INT64_MAX)) {
                refuse(path_, msg("tensor {} is larger than any memory", name));
            }
            entry.shape.push_back(static_cast<std::int64_t>(size));
        }
        const auto offsets = numbers(name, value, "data_offsets");
        if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes_) {
            refuse(path_, msg("tensor {} is outside the file", name));
        }
        const auto bytes = byte_count(entry.shape, item);
        if (!bytes || *bytes != offsets[1] - offsets[0]) {
            refuse(path_, msg("tensor {} has {} bytes, which does not match its shape and type",
                              name, offsets[1] - offsets[0]));
        }
        return {std::move(entry), offsets[0], offsets[1]};
    }

    std::vector<std::uint64_t> numbers(const std::string& name, const json& value,
                                       const char* field) {
        const auto list = value.find(field);
        const auto whole = [](const json& item) { return item.is_number_unsigned(); };
        if (list == value.end() || !list->is_array() ||
            !std::all_of(list->begin(), list->end(), whole)) {
            refuse(path_, msg("tensor {} has no {}, a list of whole numbers", name, field));
        }
        return list->get<std::vector<std::uint64_t>>();
    }

    /// Tensors follow one another without overlap or hole, as the format asks, to the end of the
    /// file.
    void check_cover(std::vector<Described>& entries) {
        std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
        std::uint64_t end = 0;
        for (const auto& each : entries) {
            if (each.begin < end) refuse(path_, msg("tensor {} overlaps another", each.entry.name));
            if (each.begin > end)
                refuse(path_, msg("there is a hole before tensor {}", each.entry.name));
            end = each.end;
        }
        if (end != data_bytes_) refuse(path_, msg("it has bytes that belong to no tensor"));
    }

    const std::filesystem::path& path_;
    std::string_view text_;
    std::uint64_t data_bytes_;
};

void check_entry(const TensorEntry& entry, std::set<std::string>& names) {
    if (entry.name == metadata_key || !names.insert(entry.name).second) {
        throw Error(
            ErrorCode::value,
            msg("safetensors: {} cannot be used as the name of another tensor", entry.name));
    }
    const std::size_t item = safetensors_item_bytes(entry.dtype);
    const auto bytes = byte_count(entry.shape, item);
    if (item == 0 || !bytes || *bytes != entry.bytes.size()) {
        throw Error(ErrorCode::value,
                    msg("safetensors: tensor {} of type {} has {} bytes, which do not "
                        "fit its shape",
                        entry.name, entry.dtype, entry.bytes.size()));
    }
}

std::string header_text(const std::vector<TensorEntry>& tensors,
                        const std::map<std::string, std::string>& metadata) {
    // Written by parts: an object in the order of its members looks through all of them for each.
    std::string text = "{";
    const auto add = [&text](const std::string& name, const ordered_json& value) {
        if (text.size() > 1) text += ',';
        text += json(name).dump() + ':' + value.dump();
    };
    if (!metadata.empty()) add(metadata_key, metadata);
    std::uint64_t offset = 0;
    for (const auto& entry : tensors) {
        const std::uint64_t end = offset + entry.bytes.size();
        add(entry.name,
            {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {offset, end}}});
        offset = end;
    }
    text += '}';
    text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
    return text;
}

}  // namespace

std::size_t safetensors_item_bytes(const std::string& dtype) {
    if (dtype == "F64" || dtype == "I64") return 8;
    if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
    if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
    if (dtype == "U8" || dtype == "I8" || dtype == "BOOL") return 1;
    return 0;
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
    SafetensorsFile file;
    Source source(path);
    const std::string header = read_header(source, path);
    auto described = HeaderReader(path, header, source.left()).read(file.metadata_);
    check_fits_memory(path, source.left());
    file.data_.resize(source.left());
    source.read(std::span(file.data_));
    for (auto& each : described) {
        each.entry.bytes =
            std::span<const std::byte>(file.data_).subspan(each.begin, each.end - each.begin);
        file.tensors_.push_back(std::move(each.entry));
    }
    for (const TensorEntry& each : file.tensors_) file.by_name_.emplace(each.name, &each);
    return file;
}

const TensorEntry* SafetensorsFile::find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
}

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata, NamedBy by) {
    std::set<std::string> names;
    for (const auto& entry : tensors) check_entry(entry, names);
    // Larger items first: then every tensor is aligned to its type.
    std::vector<TensorEntry> ordered = tensors;
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
        return safetensors_item_bytes(a.dtype) > safetensors_item_bytes(b.dtype);
    });
    const std::string header = header_text(ordered, metadata);
    const std::uint64_t length = header.size();
    AtomicFile file(path, by);
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(header);
    std::uint64_t all = 0;
    for (const auto& entry : ordered) all += entry.bytes.size();
    WorkCount work(all);
    for (const auto& entry : ordered) {
        file.write(entry.bytes);
        work.add(entry.bytes.size());
    }
    file.commit();
}

}  // namespace engine
