#include <algorithm>
#include <cstdlib>
#include <map>

#include "engine/record/histogram_record.h"
#include "record/column_file.h"
#include "record/histogram_file.h"

namespace engine {
namespace fs = std::filesystem;
namespace layout = histogram_layout;
namespace {

Error no_histograms(const fs::path& path, const std::string& reason) {
    return {ErrorCode::data, msg("{}: cannot open the histograms: {}", path.string(), reason),
            msg("Give the folder of a run that kept some (instruments.histograms_every).")};
}

void check_histograms(const record_layout::Header& header, const fs::path& path, std::int64_t) {
    layout::check_header(header, path);
}

ColumnFile column_file(const fs::path& path) {
    // Drift reads a few rows of every chunk, and mapping chunks again each time takes longer than
    // reading them. 300 MB of address space; the system may reclaim the pages.
    constexpr std::size_t max_mapped = 64;
    return {path, no_histograms, check_histograms, max_mapped};
}

}  // namespace

Table to_table(const HistogramSample& sample, HistogramKind kind) {
    Table out{{"step", "shadow", "loss_scale", "kind", "layer", "type", "flushed", "zero", "below"}};
    for (int e = ExponentHistogram::first_exponent; e <= ExponentHistogram::last_exponent; ++e)
        out.columns.push_back(std::to_string(e));
    for (const char* last : {"inf", "nan"}) out.columns.emplace_back(last);
    constexpr const char* types[] = {"f32", "bf16", "f16"};  // by ValueType
    for (const LayerHistogram& layer : sample.layers) {
        if (layer.kind != kind) continue;
        const ExponentHistogram& values = layer.values;
        Table::Row& row = out.rows.emplace_back(Table::Row{
            sample.step, sample.shadow, Cell(sample.loss_scale, "%.17g"), name(kind), layer.layer,
            types[static_cast<int>(layer.type)], layer.flushed, values.zero, values.below});
        row.insert(row.end(), values.bins.begin(), values.bins.end());
        row.insert(row.end(), {values.infinite, values.nan});
    }
    return out;
}

ExponentHistogram HistogramSample::total(HistogramKind kind) const {
    ExponentHistogram sum;
    for (const LayerHistogram& layer : layers) {
        if (layer.kind == kind) sum += layer.values;
    }
    return sum;
}

const LayerHistogram* HistogramSample::find(std::string_view layer, HistogramKind kind) const {
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const LayerHistogram& each) {
        return each.kind == kind && each.layer == layer;
    });
    return found == layers.end() ? nullptr : &*found;
}

bool HistogramSample::flushed(HistogramKind kind) const {
    return std::any_of(layers.begin(), layers.end(), [&](const LayerHistogram& each) {
        return each.kind == kind && each.flushed;
    });
}

struct HistogramRecordReader::Impl {
    /// Rows [first, first + rows) of a sample; samples_ holds the same samples for callers.
    struct Extent {
        std::int64_t first, rows;
    };

    fs::path folder;
    ColumnReader columns;
    std::int64_t known = 0;  // rows
    std::vector<Sample> samples;
    std::vector<Extent> extents;
    std::vector<std::string> layers;
    /// Rows of each layer (its place in `layers`) and kind, ascending: a read of one layer touches
    /// no row of the others.
    std::map<std::pair<std::int32_t, std::uint8_t>, std::vector<std::int64_t>> rows_by_layer;

    explicit Impl(const fs::path& run_folder)
        : folder(run_folder / layout::folder_name),
          columns(column_file(folder / layout::file_name)) {}

    /// Reads rows without their counters, which are most of the columns.
    std::vector<layout::Row> read_rows(std::int64_t first, std::int64_t count,
                                       bool counters) const {
        std::vector<layout::Row> out(static_cast<std::size_t>(count));
        columns.read_rows(first, std::span(out),
                          [&](const auto& f) { layout::for_each_value(f, counters); });
        return out;
    }

    bool refresh() {
        const std::int64_t published = columns.published();
        if (published == known) return false;
        // The names were written before the rows that use them.
        layers = layout::read_layers(folder / layout::layers_name);
        // In pieces: a row takes far more memory than what is kept of it.
        constexpr std::int64_t piece = 4096;
        Sample sample{};
        Extent extent{0, 0};
        std::int64_t first_row = -1;
        while (known < published) {
            for (const layout::Row& row :
                 read_rows(known, std::min(piece, published - known), false)) {
                rows_by_layer[{row.layer, row.kind}].push_back(known);
                if (row.first_row != first_row) {
                    if (extent.rows > 0) add(sample, extent);
                    sample = {row.step, row.shadow != 0, row.loss_scale};
                    extent = {known, 0};
                    first_row = row.first_row;
                }
                ++extent.rows;
                ++known;
            }
        }
        add(sample, extent);
        return true;
    }

    void add(const Sample& sample, const Extent& extent) {
        const auto before = [](const Sample& a, const Sample& b) {
            return a.step != b.step ? a.step < b.step : a.shadow < b.shadow;
        };
        const auto place = std::lower_bound(samples.begin(), samples.end(), sample, before);
        const auto at = extents.begin() + (place - samples.begin());
        if (place != samples.end() && !before(sample, *place)) {
            *place = sample;
            *at = extent;
        } else {
            samples.insert(place, sample);
            extents.insert(at, extent);
        }
    }

    std::span<const std::int64_t> rows_of(std::string_view layer, HistogramKind kind) const {
        const auto place = std::find(layers.begin(), layers.end(), layer);
        const auto found = rows_by_layer.find(
            {static_cast<std::int32_t>(place - layers.begin()), static_cast<std::uint8_t>(kind)});
        if (place == layers.end() || found == rows_by_layer.end()) return {};
        return found->second;
    }

    const Extent& extent(std::size_t sample) const {
        if (sample < extents.size()) return extents[sample];
        throw Error(ErrorCode::value, msg("histograms {} were requested; the run has {}",
                                          sample + 1, extents.size()));
    }

    const std::string& layer_of(const layout::Row& row) const {
        const auto at = static_cast<std::size_t>(row.layer);
        const bool known_kind = row.kind < histogram_kind_count &&
                                row.type <= static_cast<std::uint8_t>(ValueType::f16);
        if (row.layer >= 0 && at < layers.size() && known_kind) return layers[at];
        throw Error(ErrorCode::data,
                    msg("{}: the histograms of the run are damaged", folder.string()),
                    msg("Restore the file from a copy; the run does not need it."));
    }
};

bool HistogramRecordReader::exists(const fs::path& run_folder) {
    std::error_code error;
    return fs::exists(run_folder / layout::folder_name / layout::file_name, error);
}

HistogramRecordReader HistogramRecordReader::open(const fs::path& run_folder) {
    HistogramRecordReader reader(std::make_unique<Impl>(run_folder));
    reader.refresh();
    return reader;
}

HistogramRecordReader::HistogramRecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HistogramRecordReader::~HistogramRecordReader() = default;
HistogramRecordReader::HistogramRecordReader(HistogramRecordReader&&) noexcept = default;
HistogramRecordReader& HistogramRecordReader::operator=(HistogramRecordReader&&) noexcept = default;

bool HistogramRecordReader::refresh() { return impl_->refresh(); }

std::span<const HistogramRecordReader::Sample> HistogramRecordReader::samples() const& {
    return impl_->samples;
}

const std::vector<std::string>& HistogramRecordReader::layers() const { return impl_->layers; }

std::optional<std::size_t> HistogramRecordReader::nearest(std::int64_t step, bool shadow) const {
    std::optional<std::size_t> best;
    const auto distance = [&](std::size_t i) { return std::abs(impl_->samples[i].step - step); };
    for (std::size_t i = 0; i < impl_->samples.size(); ++i) {
        if (impl_->samples[i].shadow == shadow && (!best || distance(i) < distance(*best)))
            best = i;
    }
    return best;
}

HistogramSample HistogramRecordReader::read(std::size_t sample) const {
    const Impl::Extent& extent = impl_->extent(sample);
    const Sample& head = impl_->samples[sample];
    HistogramSample out{head.step, head.shadow, head.loss_scale, {}};
    for (const layout::Row& row : impl_->read_rows(extent.first, extent.rows, true)) {
        const std::string& layer = impl_->layer_of(row);
        const auto kind = static_cast<HistogramKind>(row.kind);
        const bool further = !out.layers.empty() && out.layers.back().layer == layer &&
                             out.layers.back().kind == kind;
        if (!further)
            out.layers.push_back(
                {layer, kind, {}, static_cast<ValueType>(row.type), row.flushed != 0});
        layout::add_row(out.layers.back().values, row);
    }
    return out;
}

std::vector<ExponentHistogram> HistogramRecordReader::read(std::string_view layer,
                                                           HistogramKind kind, std::size_t first,
                                                           std::size_t count) const {
    std::vector<ExponentHistogram> out(count);
    const std::span<const std::int64_t> rows = impl_->rows_of(layer, kind);
    for (std::size_t i = 0; i < count; ++i) {
        const Impl::Extent& extent = impl_->extent(first + i);
        for (auto at = std::lower_bound(rows.begin(), rows.end(), extent.first);
             at != rows.end() && *at < extent.first + extent.rows; ++at)
            layout::add_row(out[i], impl_->read_rows(*at, 1, true).front());
    }
    return out;
}

}  // namespace engine
