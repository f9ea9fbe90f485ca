#include "record/twin_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "base/json_reader.h"
#include "engine/base/json.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::array<char, 8> twin_magic = {'H', 'T', 'T', 'W', 'I', 'N', 'S', '\n'};
constexpr std::uint32_t twin_version = 1;
constexpr std::uint32_t first_twin_chunk = 1024, full_twin_chunk = 65536;
constexpr std::uintmax_t max_name_bytes = 64 << 20;

[[noreturn]] void throw_damaged(const fs::path& file) {
    throw Error(ErrorCode::data, msg("{}: the record of the twin is damaged", file.string()),
                msg("Restore the file from a copy; the run does not need it."));
}

void write_names(const fs::path& folder, const std::string& reference,
                 const std::vector<std::string>& layers) {
    write_file(
        folder / twin_layout::names_name,
        dumped(json{{"version", twin_version}, {"reference", reference}, {"layers", layers}}, 1) +
            '\n');
}

/// Calls f(column, value_of) for each column.
constexpr auto values_in_order = [](const auto& f) {
    std::size_t column = 0;
    twin_layout::for_each_field([&](const char*, auto member) {
        f(
            column++, [member](auto& row) -> auto& { return row.*member; });
    });
};

/// An earlier twin of the same run is gone: its rows are of steps that are computed again.
ColumnWriter fresh_columns(const fs::path& run_folder, const std::string& reference,
                           const std::vector<std::string>& layers) {
    const fs::path folder = run_folder / twin_layout::folder_name;
    std::error_code error;
    fs::remove_all(folder, error);
    make_private_folders(folder, error);
    if (error) throw_write_error(folder, error.value());
    write_names(folder, reference, layers);
    return ColumnWriter::create(folder / twin_layout::file_name, twin_layout::make_header());
}

json read_names(const fs::path& file) {
    json names = read_json_file(file, {.bytes = max_name_bytes});
    const bool whole = names.is_object() && names.contains("reference") &&
                       names["reference"].is_string() && names.contains("layers") &&
                       names["layers"].is_array() && !names["layers"].empty();
    if (!whole) throw_damaged(file);
    return names;
}

Error no_twin(const fs::path& path, const std::string& reason) {
    return {ErrorCode::data,
            msg("{}: cannot open the record of the twin: {}", path.string(), reason)};
}

void check_header(const record_layout::Header& header, const fs::path& path, std::int64_t) {
    if (header.magic != twin_magic || !record_layout::is_sound(header)) throw_damaged(path);
    if (header.checksum != twin_layout::make_header().checksum) {
        throw Error(
            ErrorCode::data,
            msg("{}: the twin was written by another version of this program", path.string()),
            msg("Open it with the version of Halftone that wrote it."));
    }
}

/// The twin that was compared before; nothing if it cannot be read or is of other layers.
std::optional<TwinRecordReader> columns_to_continue(const fs::path& run_folder,
                                                    const std::vector<std::string>& layers) {
    try {
        TwinRecordReader reader = TwinRecordReader::open(run_folder);
        if (reader.layers() == layers && reader.steps() > 0) return reader;
    } catch (const Error&) {
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

record_layout::Header twin_layout::make_header() {
    record_layout::Header header{};
    header.magic = twin_magic;
    header.version = twin_version;
    header.first_chunk_rows = first_twin_chunk;
    header.full_chunk_rows = full_twin_chunk;
    for_each_field([&](const char* name, auto member) {
        using T = std::remove_reference_t<decltype(std::declval<Row&>().*member)>;
        record_layout::add_column(header, name, record_layout::column_type<T>());
    });
    header.checksum = record_layout::checksum(header);
    return header;
}

TwinRecordWriter::TwinRecordWriter(const fs::path& run_folder, const std::string& reference,
                                   const std::vector<std::string>& layers)
    : columns_(fresh_columns(run_folder, reference, layers)) {}

TwinRecordWriter TwinRecordWriter::go_on(const fs::path& run_folder, const std::string& reference,
                                         const std::vector<std::string>& layers,
                                         std::int64_t steps) {
    const auto kept = steps > 0 ? columns_to_continue(run_folder, layers) : std::nullopt;
    if (!kept) return {run_folder, reference, layers};
    write_names(run_folder / twin_layout::folder_name, reference, layers);
    const fs::path path = run_folder / twin_layout::folder_name / twin_layout::file_name;
    ColumnWriter columns(open_columns(path), path, twin_layout::make_header());
    const std::int64_t known = std::min(steps, kept->steps());
    columns.go_on_after(known * std::ssize(layers));
    TwinRecordWriter out(std::move(columns));
    std::vector<TwinRow> uncompared(layers.size());
    for (std::int64_t step = known + 1; step <= steps; ++step) {
        for (std::size_t i = 0; i < layers.size(); ++i)
            uncompared[i] = {.step = step,
                             .layer = static_cast<std::int32_t>(i),
                             .error = std::numeric_limits<float>::quiet_NaN(),
                             .angle = std::numeric_limits<float>::quiet_NaN()};
        out.append(uncompared);
    }
    return out;
}

void TwinRecordWriter::append(std::span<const TwinRow> step) {
    std::vector<twin_layout::Row> rows;
    for (const TwinRow& each : step)
        rows.push_back({each.step, each.layer, each.error, each.angle,
                        each.skipped ? std::uint8_t{1} : std::uint8_t{0},
                        each.resynced ? std::uint8_t{1} : std::uint8_t{0}});
    columns_.write_rows(std::span<const twin_layout::Row>(rows), values_in_order);
    columns_.publish();
}

struct TwinRecordReader::Impl {
    ColumnReader columns;
    std::string reference;
    std::vector<std::string> layers;

    explicit Impl(const fs::path& folder)
        : columns({folder / twin_layout::file_name, no_twin, check_header}) {
        const json names = read_names(folder / twin_layout::names_name);
        reference = names["reference"].get<std::string>();
        for (const json& layer : names["layers"]) {
            if (!layer.is_string()) throw_damaged(folder / twin_layout::names_name);
            layers.push_back(layer.get<std::string>());
        }
    }
};

bool TwinRecordReader::exists(const fs::path& run_folder) {
    std::error_code error;
    return fs::exists(run_folder / twin_layout::folder_name / twin_layout::file_name, error);
}

TwinRecordReader TwinRecordReader::open(const fs::path& run_folder) {
    return TwinRecordReader(std::make_unique<Impl>(run_folder / twin_layout::folder_name));
}

TwinRecordReader::TwinRecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TwinRecordReader::~TwinRecordReader() = default;
TwinRecordReader::TwinRecordReader(TwinRecordReader&&) noexcept = default;
TwinRecordReader& TwinRecordReader::operator=(TwinRecordReader&&) noexcept = default;

const std::string& TwinRecordReader::reference() const { return impl_->reference; }
const std::vector<std::string>& TwinRecordReader::layers() const { return impl_->layers; }
std::int64_t TwinRecordReader::size() const { return impl_->columns.published(); }
std::int64_t TwinRecordReader::steps() const {
    return size() / static_cast<std::int64_t>(impl_->layers.size());
}

void TwinRecordReader::rows(std::int64_t first, std::span<TwinRow> out) const {
    if (first < 0 || first + std::ssize(out) > size()) {
        throw Error(ErrorCode::value, msg("rows {} to {} of the twin were requested; there are {}",
                                          first, first + std::ssize(out) - 1, size()));
    }
    const auto layer_count = static_cast<std::int32_t>(impl_->layers.size());
    std::vector<twin_layout::Row> read(out.size());
    impl_->columns.read_rows(first, std::span(read), values_in_order);
    std::ranges::transform(read, out.begin(), [&](const twin_layout::Row& row) {
        return TwinRow{.step = row.step,
                       .layer = std::clamp(row.layer, 0, layer_count - 1),
                       .error = row.error,
                       .angle = row.angle,
                       .skipped = row.skipped != 0,
                       .resynced = row.resynced != 0};
    });
}

TwinDigest::TwinDigest(const std::vector<std::string>& layers) {
    for (const std::string& name : layers) layers_.push_back({.name = name, .rounding = {}});
}

void TwinDigest::add(const TwinRow& row) {
    if (row.step != step_) {  // the first layer of the next step
        fresh_ = step_ == 0 || resynced_;
        if (resynced_) begin_part(row.step);
        step_ = row.step;
        resynced_ = row.resynced;
    }
    if (identical_ && (row.error != 0 || row.skipped)) {
        identical_ = false;
        first_difference_ = row;
    }
    if (row.skipped || std::isnan(row.error)) return;
    TwinLayer& layer = layers_[static_cast<std::size_t>(row.layer)];
    layer.error = row.error;
    layer.angle = row.angle;
    if (fresh_) layer.rounding = row.error;
    layer.above = row.error > limit ? layer.above + 1 : 0;
    if (layer.above == lasting && layer.diverged == 0) layer.diverged = row.step - lasting + 1;
}

void TwinDigest::begin_part(std::int64_t step) {
    const auto before = static_cast<std::ptrdiff_t>(earlier_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i].diverged > 0) earlier_.push_back({i, layers_[i].diverged});
        layers_[i].diverged = layers_[i].above = 0;
    }
    std::ranges::stable_sort(earlier_.begin() + before, earlier_.end(), {}, &TwinMark::step);
    part_begins_ = step;
}

std::optional<std::size_t> TwinDigest::first_to_diverge() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const std::int64_t at = layers_[i].diverged;
        if (at > 0 && (!first || at < layers_[*first].diverged)) first = i;
    }
    return first;
}

Table to_table(const TwinDigest& digest, const TwinStep& step) {
    Table out{{"step", "skipped", "layer", "error", "angle_degrees", "rounding", "diverged_step"}};
    for (std::size_t i = 0; i < digest.layers().size(); ++i) {
        const TwinLayer& layer = digest.layers()[i];
        out.rows.push_back({step.step, step.skipped, layer.name, finite_cell(step.errors[i]),
                            finite_cell(step.angles[i]), finite_cell(layer.rounding.value_or(NAN)),
                            layer.diverged > 0 ? Cell(layer.diverged) : Cell()});
    }
    return out;
}

}  // namespace engine
