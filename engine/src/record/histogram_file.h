#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/histogram_record.h"
#include "record/column_file.h"
#include "record/record_layout.h"

/// The histograms of a run, in its folder: `histograms/exponents.rec`, a file of columns
/// (record/record_layout.h) with a row for each layer and kind of a sample, and `layers.json`, the
/// names of the layers: {"version":1,"layers":["conv1",...]}. A row names its layer by its place
/// there, which is written before the row.
///
/// The rows of a sample follow each other and are published together. A count of 2^31 or more
/// takes further rows, which add up.
namespace engine::histogram_layout {

inline constexpr char folder_name[] = "histograms";
inline constexpr char file_name[] = "exponents.rec";
inline constexpr char layers_name[] = "layers.json";

/// zero, below, infinite, nan, and the bins.
inline constexpr std::size_t counter_count = 4 + ExponentHistogram::bin_count;

struct Row {
    std::int64_t step;
    std::int64_t first_row;  ///< of the sample; distinguishes it from the previous one
    double loss_scale;
    double largest;
    double smallest;
    std::int32_t layer;
    std::uint8_t kind;
    std::uint8_t type;
    std::uint8_t shadow;
    std::uint8_t flushed;
    std::array<std::int32_t, counter_count> counts;
};

/// Calls f(name, member pointer) for the columns before the counters, in file order.
template <typename F>
constexpr void for_each_field(F&& f) {
    f("step", &Row::step);
    f("first_row", &Row::first_row);
    f("loss_scale", &Row::loss_scale);
    f("largest", &Row::largest);
    f("smallest", &Row::smallest);
    f("layer", &Row::layer);
    f("kind", &Row::kind);
    f("type", &Row::type);
    f("shadow", &Row::shadow);
    f("flushed", &Row::flushed);
}

/// Calls f(column, value_of) for each column, without those of the counters if not asked for;
/// value_of(row): the value.
template <typename F>
void for_each_value(const F& f, bool counters = true) {
    std::size_t column = 0;
    for_each_field([&](const char*, auto member) {
        f(
            column++, [member](auto& row) -> auto& { return row.*member; });
    });
    for (std::size_t i = 0; counters && i < counter_count; ++i)
        f(
            column++, [i](auto& row) -> auto& { return row.counts[i]; });
}

record_layout::Header make_header();
/// Throws Error(data) unless the header is whole and has these columns.
void check_header(const record_layout::Header& header, const std::filesystem::path& file);

/// Appends the rows of a histogram: one, or more where a count exceeds one row.
void append_rows(std::vector<Row>& rows, const LayerHistogram& histogram, std::int32_t layer,
                 const HistogramSample& sample);
/// Adds a row's counts.
void add_row(ExponentHistogram& histogram, const Row& row);

/// The names in layers.json. Throws Error(data) if the file is damaged.
std::vector<std::string> read_layers(const std::filesystem::path& file);
/// Throws Error(io).
void write_layers(const std::filesystem::path& file, const std::vector<std::string>& layers);

}  // namespace engine::histogram_layout

namespace engine {

/// Keeps histograms in a run's folder. Its files are made with the first sample. One thread;
/// readers may read meanwhile.
class HistogramWriter {
public:
    explicit HistogramWriter(std::filesystem::path run_folder);

    /// Appends the sample and publishes it whole. Throws Error(io), and Error(data) if the files
    /// that the run has are damaged or of another version.
    void append(const HistogramSample& sample);

private:
    void open();
    void write(const HistogramSample& sample);
    void find_places(const HistogramSample& sample);

    std::filesystem::path folder_;
    std::optional<ColumnWriter> columns_;
    std::vector<std::string> layers_;
    std::map<std::string, std::int32_t, std::less<>> places_;
    // Places and rows of the sample that is being written.
    std::vector<std::int32_t> sample_places_;
    std::vector<histogram_layout::Row> rows_;
};

}  // namespace engine
