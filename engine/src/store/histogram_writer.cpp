#include "store/histogram_writer.h"

#include <cstring>
#include <span>
#include <system_error>

#include "engine/error.h"
#include "file/atomic_file.h"
#include "store/histogram_layout.h"
#include "store/record_source.h"

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
        fs::create_directories(folder_, error);
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

/// The places of the sample's layers in the list of names, which is written if it grows.
std::vector<std::int32_t> HistogramWriter::places_of(const HistogramSample& sample) {
    std::vector<std::int32_t> out;
    const std::size_t before = layers_.size();
    for (const LayerHistogram& layer : sample.layers) {
        const auto [place, is_new] =
            places_.emplace(layer.layer, static_cast<std::int32_t>(layers_.size()));
        if (is_new) layers_.push_back(layer.layer);
        out.push_back(place->second);
    }
    if (layers_.size() > before) layout::write_layers(folder_ / layout::layers_name, layers_);
    return out;
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
    const std::vector<std::int32_t> places = places_of(sample);
    const std::int64_t first_row = columns_->published();
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto rows = layout::rows_of(sample.layers[i], places[i], sample);
        for (layout::Row& row : rows) {
            row.first_row = first_row;
            columns_->write_row([&](const std::vector<std::byte*>& columns, std::int64_t at) {
                std::size_t column = 0;
                const auto put = [&](const auto& value) {
                    std::memcpy(columns[column++] + at * static_cast<std::int64_t>(sizeof value),
                                &value, sizeof value);
                };
                layout::for_each_field([&](const char*, auto member) { put(row.*member); });
                for (const std::int32_t count : row.counts) put(count);
            });
        }
    }
}

}  // namespace engine
