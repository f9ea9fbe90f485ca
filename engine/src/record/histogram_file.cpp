#include "record/histogram_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <type_traits>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "record/record_source.h"

namespace engine::histogram_layout {
namespace {

using nlohmann::json;

constexpr std::array<char, 8> magic = {'H', 'T', 'H', 'I', 'S', 'T', 'O', '\n'};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t first_chunk_rows = 256, full_chunk_rows = 16384;
/// Far more than any model's names take.
constexpr std::uintmax_t max_layer_bytes = 64 << 20;

/// The counters of a histogram in file order.
template <typename Histogram, typename F>
void for_each_count(Histogram& histogram, const F& f) {
    std::size_t i = 0;
    for (auto* count : {&histogram.zero, &histogram.below, &histogram.infinite, &histogram.nan})
        f(i++, *count);
    for (auto& count : histogram.bins) f(i++, count);
}

[[noreturn]] void throw_damaged(const std::filesystem::path& file) {
    throw Error(ErrorCode::data, msg("{}: the histograms of the run are damaged", file.string()),
                msg("Restore the file from a copy; the run does not need it."));
}

}  // namespace

record_layout::Header make_header() {
    record_layout::Header header{};
    header.magic = magic;
    header.version = version;
    header.first_chunk_rows = first_chunk_rows;
    header.full_chunk_rows = full_chunk_rows;
    for_each_field([&](const char* name, auto member) {
        using T = std::remove_reference_t<decltype(std::declval<Row&>().*member)>;
        record_layout::add_column(header, name, record_layout::column_type<T>());
    });
    for (const char* name : {"zero", "below", "infinite", "nan"})
        record_layout::add_column(header, name, record_layout::ColumnType::i32);
    for (int i = 0; i < ExponentHistogram::bin_count; ++i)
        record_layout::add_column(header,
                                  "e" + std::to_string(ExponentHistogram::first_exponent + i),
                                  record_layout::ColumnType::i32);
    header.checksum = record_layout::checksum(header);
    return header;
}

void check_header(const record_layout::Header& header, const std::filesystem::path& file) {
    if (header.magic != magic || !record_layout::is_sound(header)) throw_damaged(file);
    if (header.checksum != make_header().checksum) {
        throw Error(ErrorCode::data,
                    msg("{}: the histograms were written by another version of this program",
                        file.string()),
                    msg("Open it with the version of Halftone that wrote it."));
    }
}

void append_rows(std::vector<Row>& rows, const LayerHistogram& histogram, std::int32_t layer,
                 const HistogramSample& sample) {
    const auto append = [&]() -> Row& {
        Row& row = rows.emplace_back();
        row.step = sample.step;
        row.loss_scale = sample.loss_scale;
        row.largest = histogram.values.largest;
        row.smallest = histogram.values.smallest;
        row.layer = layer;
        row.kind = static_cast<std::uint8_t>(histogram.kind);
        row.type = static_cast<std::uint8_t>(histogram.type);
        row.shadow = sample.shadow ? 1 : 0;
        row.flushed = histogram.flushed ? 1 : 0;
        return row;
    };
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::int64_t all = 0;
    Row& whole = append();
    for_each_count(histogram.values, [&](std::size_t i, std::int64_t count) {
        whole.counts[i] = static_cast<std::int32_t>(count);
        all |= count;
    });
    if (all <= most) return;
    rows.pop_back();  // a count needs several rows
    ExponentHistogram left = histogram.values;
    std::int64_t rest = 1;
    while (rest != 0) {
        rest = 0;
        Row& row = append();
        for_each_count(left, [&](std::size_t i, std::int64_t& count) {
            const std::int64_t here = std::min(count, most);
            row.counts[i] = static_cast<std::int32_t>(here);
            count -= here;
            rest |= count;
        });
    }
}

void add_row(ExponentHistogram& histogram, const Row& row) {
    for_each_count(histogram, [&](std::size_t i, std::int64_t& count) { count += row.counts[i]; });
    histogram.largest = row.largest;
    histogram.smallest = row.smallest;
}

std::vector<std::string> read_layers(const std::filesystem::path& file) {
    const json parsed = read_json_file(file, {.bytes = max_layer_bytes});
    if (!parsed.is_object() || !parsed.contains("layers") || !parsed["layers"].is_array())
        throw_damaged(file);
    std::vector<std::string> layers;
    for (const json& layer : parsed["layers"]) {
        if (!layer.is_string()) throw_damaged(file);
        layers.push_back(layer.get<std::string>());
    }
    return layers;
}

void write_layers(const std::filesystem::path& file, const std::vector<std::string>& layers) {
    write_file(file, json({{"version", version}, {"layers", layers}}).dump(1) + '\n');
}

}  // namespace engine::histogram_layout

namespace engine {
namespace fs = std::filesystem;
namespace layout = histogram_layout;

HistogramWriter::HistogramWriter(fs::path run_folder)
    : folder_(std::move(run_folder) / layout::folder_name) {}

void HistogramWriter::open() {
    const fs::path path = folder_ / layout::file_name;
    const record_layout::Header expected = layout::make_header();
    std::error_code error;
    if (!fs::exists(path, error)) {
        make_private_folders(folder_, error);
        if (error) throw_write_error(folder_, error.value());
        columns_ = ColumnWriter::create(path, expected);
        return;
    }
    File file = open_columns(path);
    record_layout::Header found{};
    (void)read_whole_at(file, std::as_writable_bytes(std::span(&found, 1)), 0);
    layout::check_header(found, path);
    // A process that was killed as it made the files left no names.
    layers_.clear();
    places_.clear();
    if (found.published > 0) layers_ = layout::read_layers(folder_ / layout::layers_name);
    for (std::size_t i = 0; i < layers_.size(); ++i)
        places_.emplace(layers_[i], static_cast<std::int32_t>(i));
    ColumnWriter columns(std::move(file), path, expected);
    if (!columns.can_hold(found.published)) throw_record_short(path, found.published);
    columns.go_on_after(found.published);
    columns_ = std::move(columns);
}

/// Finds the places of the sample's layers in the list of names, which is written if it grows.
void HistogramWriter::find_places(const HistogramSample& sample) {
    sample_places_.clear();
    const std::size_t before = layers_.size();
    for (const LayerHistogram& layer : sample.layers) {
        auto place = places_.find(layer.layer);
        if (place == places_.end()) {
            place = places_.emplace(layer.layer, static_cast<std::int32_t>(layers_.size())).first;
            layers_.push_back(layer.layer);
        }
        sample_places_.push_back(place->second);
    }
    if (layers_.size() > before) layout::write_layers(folder_ / layout::layers_name, layers_);
}

void HistogramWriter::append(const HistogramSample& sample) {
    if (!columns_) open();
    try {
        write(sample);
        columns_->publish();
    } catch (const Error&) {
        columns_.reset();  // the next sample goes on after the last whole one
        throw;
    }
}

void HistogramWriter::write(const HistogramSample& sample) {
    find_places(sample);
    rows_.clear();
    for (std::size_t i = 0; i < sample.layers.size(); ++i)
        layout::append_rows(rows_, sample.layers[i], sample_places_[i], sample);
    for (layout::Row& row : rows_) row.first_row = columns_->published();
    columns_->write_rows(std::span<const layout::Row>(rows_),
                         [](const auto& f) { layout::for_each_value(f); });
}

}  // namespace engine
