#include "record/histogram_writer.h"

#include <cstring>
#include <span>
#include <system_error>
#include <type_traits>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "record/record_source.h"

namespace engine {
namespace fs = std::filesystem;
namespace layout = histogram_layout;

namespace {

using Columns = std::vector<std::byte*>;

/// Puts the rows at places at, at + 1, ... Column by column: each lies in pages of its own.
void put_rows(const Columns& columns, std::int64_t at, std::span<const layout::Row> rows) {
    std::size_t column = 0;
    const auto put = [&](const auto& value_of) {
        using T = std::remove_cvref_t<decltype(value_of(rows.front()))>;
        std::byte* to = columns[column++] + at * static_cast<std::int64_t>(sizeof(T));
        for (const layout::Row& row : rows) {
            const T value = value_of(row);
            std::memcpy(to, &value, sizeof value);
            to += sizeof value;
        }
    };
    layout::for_each_field([&](const char*, auto member) {
        put([member](const layout::Row& row) { return row.*member; });
    });
    for (std::size_t i = 0; i < layout::counter_count; ++i)
        put([i](const layout::Row& row) { return row.counts[i]; });
}

}  // namespace

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
    const auto put = [this](const Columns& columns, std::int64_t at, std::int64_t first,
                            std::int64_t n) {
        put_rows(
            columns, at,
            std::span(rows_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)));
    };
    columns_->write_rows(static_cast<std::int64_t>(rows_.size()), put);
}

}  // namespace engine
