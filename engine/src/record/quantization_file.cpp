#include "record/quantization_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <type_traits>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "record/record_source.h"

namespace engine::quantization_layout {
namespace {

using nlohmann::json;

constexpr std::array<char, 8> magic = {'H', 'T', 'Q', 'U', 'A', 'N', 'T', '\n'};
constexpr std::uint32_t slots_version = 1;
constexpr std::uintmax_t max_slot_bytes = 16 << 20;
constexpr std::size_t max_slots = 100'000;

[[noreturn]] void throw_damaged_record(const std::filesystem::path& file) {
    throw Error(ErrorCode::data,
                msg("{}: the record of the run's casts is damaged", file.string()),
                msg("Restore the file from a copy; the run does not need it."));
}

json to_json_slot(const QuantizationSlot& slot) {
    return {{"module", slot.module}, {"role", slot.role},     {"orientation", slot.orientation},
            {"rows", slot.rows},     {"cols", slot.cols},     {"format", slot.format},
            {"engine", slot.engine}, {"reason", slot.reason}};
}

QuantizationSlot slot_of(const json& in) {
    QuantizationSlot out;
    const auto text = [&](const char* key) { return in.at(key).get<std::string>(); };
    const auto size = [&](const char* key) {
        return in.at(key).is_number_integer() ? in.at(key).get<std::int64_t>() : 0;
    };
    out.module = one_line(text("module"));
    out.role = one_line(text("role"));
    out.orientation = one_line(text("orientation"));
    out.rows = size("rows");
    out.cols = size("cols");
    out.format = one_line(text("format"));
    out.engine = one_line(text("engine"));
    out.reason = one_line(text("reason"));
    return out;
}

}  // namespace

template <typename Row>
record_layout::Header make_header() {
    record_layout::Header header{};
    header.magic = magic;
    header.version = 1;
    header.first_chunk_rows = 256;
    header.full_chunk_rows = 16384;
    for_each_field(static_cast<const Row*>(nullptr), [&](const char* name, auto member) {
        using T = std::remove_cvref_t<decltype(std::declval<Row&>().*member)>;
        record_layout::add_column(header, name, record_layout::column_type<T>());
    });
    header.checksum = record_layout::checksum(header);
    return header;
}

template <typename Row>
void check_header(const record_layout::Header& header, const std::filesystem::path& file) {
    if (header.magic != magic || !record_layout::is_sound(header)) throw_damaged_record(file);
    if (header.checksum != make_header<Row>().checksum)
        throw Error(ErrorCode::data,
                    msg("{}: the record of casts was written by another version of this program",
                        file.string()),
                    msg("Open it with the version of Halftone that wrote it."));
}

template record_layout::Header make_header<QuantizationRow>();
template record_layout::Header make_header<ScaleCodeCount>();
template void check_header<QuantizationRow>(const record_layout::Header&,
                                            const std::filesystem::path&);
template void check_header<ScaleCodeCount>(const record_layout::Header&,
                                           const std::filesystem::path&);

std::vector<QuantizationSlot> read_slots(const std::filesystem::path& file) {
    const json parsed = read_json_file(file, {.bytes = max_slot_bytes});
    if (!parsed.is_object() || !parsed.contains("tensors") || !parsed["tensors"].is_array() ||
        parsed["tensors"].size() > max_slots)
        throw_damaged_record(file);
    std::vector<QuantizationSlot> out;
    try {
        for (const json& each : parsed["tensors"]) out.push_back(slot_of(each));
    } catch (const json::exception&) {  // a key is missing or of another type
        throw_damaged_record(file);
    }
    return out;
}

namespace {

void write_slots(const std::filesystem::path& file, std::span<const QuantizationSlot> slots) {
    json list = json::array();
    for (const QuantizationSlot& slot : slots) list.push_back(to_json_slot(slot));
    write_file(file, json({{"version", slots_version}, {"tensors", std::move(list)}}).dump(1) + '\n');
}

/// Opens a file of such rows, or makes it.
template <typename Row>
ColumnWriter open_rows(const std::filesystem::path& path) {
    const record_layout::Header expected = make_header<Row>();
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return ColumnWriter::create(path, expected);
    File file = open_columns(path);
    record_layout::Header found{};
    (void)read_whole_at(file, std::as_writable_bytes(std::span(&found, 1)), 0);
    check_header<Row>(found, path);
    ColumnWriter columns(std::move(file), path, expected);
    if (!columns.can_hold(found.published)) throw_record_short(path, found.published);
    columns.go_on_after(found.published);
    return columns;
}

}  // namespace
}  // namespace engine::quantization_layout

namespace engine {
namespace casts_layout = quantization_layout;

QuantizationWriter::QuantizationWriter(std::filesystem::path run_folder)
    : folder_(std::move(run_folder) / casts_layout::folder_name) {}

void QuantizationWriter::open() {
    std::error_code error;
    make_private_folders(folder_, error);
    if (error) throw_write_error(folder_, error.value());
    slots_.clear();
    if (std::filesystem::exists(folder_ / casts_layout::slots_name, error))
        slots_ = casts_layout::read_slots(folder_ / casts_layout::slots_name);
    scales_ = casts_layout::open_rows<ScaleCodeCount>(folder_ / casts_layout::scales_name);
    rows_ = casts_layout::open_rows<QuantizationRow>(folder_ / casts_layout::rows_name);
    opened_ = true;
}

std::int32_t QuantizationWriter::place_of(const QuantizationSlot& slot) {
    if (!opened_) open();
    const auto same = [&](const QuantizationSlot& each) {
        return each.module == slot.module && each.role == slot.role &&
               each.orientation == slot.orientation;
    };
    const auto found = std::ranges::find_if(slots_, same);
    const auto place = static_cast<std::int32_t>(found - slots_.begin());
    if (found == slots_.end() || *found != slot) grown_ = true;
    if (found == slots_.end())
        slots_.push_back(slot);
    else
        *found = slot;
    return place;
}

void QuantizationWriter::append(std::span<const QuantizationRow> rows,
                                std::span<const ScaleCodeCount> scales) {
    if (!opened_) open();
    try {
        if (grown_) casts_layout::write_slots(folder_ / casts_layout::slots_name, slots_);
        grown_ = false;
        scales_->write_rows(
            scales, [](const auto& f) { casts_layout::for_each_value<ScaleCodeCount>(f); });
        scales_->publish();
        rows_->write_rows(
            rows, [](const auto& f) { casts_layout::for_each_value<QuantizationRow>(f); });
        rows_->publish();
    } catch (const Error&) {
        opened_ = false;  // the next sample goes on after the last whole one
        throw;
    }
}

}  // namespace engine
