#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/base/error.h"
#include "record/column_file.h"
#include "record/quantization_file.h"

namespace engine {
namespace fs = std::filesystem;
namespace casts_layout = quantization_layout;

double QuantizationRow::decibels() const { return 10 * std::log10(signal2 / error2); }

double QuantizationRow::zeroed_share() const {
    return static_cast<double>(zeroed) / static_cast<double>(nonzero);
}

double QuantizationRow::saturated_share() const {
    return static_cast<double>(saturated) / static_cast<double>(elements);
}

namespace {

Error no_casts(const fs::path& path, const std::string& reason) {
    return {ErrorCode::data,
            msg("{}: cannot open the record of casts: {}", path.string(), reason),
            msg("Give a run with a recipe in 8 or 4 bits and instruments.quantization_every above "
                "0.")};
}

template <typename Row>
ColumnFile casts_file(const fs::path& path) {
    constexpr auto check = [](const record_layout::Header& header, const fs::path& file,
                              std::int64_t) { casts_layout::check_header<Row>(header, file); };
    constexpr std::size_t max_mapped = 64;
    return {path, no_casts, check, max_mapped};
}

bool same_place(const QuantizationRow& a, const QuantizationRow& b) { return a.slot == b.slot; }
bool same_place(const ScaleCodeCount& a, const ScaleCodeCount& b) {
    return a.slot == b.slot && a.code == b.code;
}

/// Rows of a file by their step: of a step that was computed again the later ones.
template <typename Row>
class StepRows {
public:
    explicit StepRows(const fs::path& path) : columns_(casts_file<Row>(path)) {}

    bool refresh() {
        const std::int64_t published = columns_.published();
        if (published == known_) return false;
        constexpr std::int64_t piece = 4096;
        while (known_ < published) {
            for (const Row& row : read(known_, std::min(piece, published - known_))) {
                // A step may follow itself, where a run went on just before it.
                const bool further = known_ > 0 && row.step == first_.step && !same_place(row, first_);
                if (!further) {
                    first_ = row;
                    extents_[row.step] = {known_, 0};
                }
                ++extents_[row.step].rows;
                ++known_;
            }
        }
        return true;
    }

    std::vector<Row> rows_of(std::int64_t step) const {
        const auto found = extents_.find(step);
        if (found == extents_.end()) return {};
        return read(found->second.first, found->second.rows);
    }

    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> out;
        for (const auto& [step, extent] : extents_) out.push_back(step);
        return out;
    }

private:
    struct Extent {
        std::int64_t first = 0, rows = 0;
    };

    std::vector<Row> read(std::int64_t first, std::int64_t count) const {
        std::vector<Row> out(static_cast<std::size_t>(count));
        columns_.read_rows(first, std::span(out),
                           [](const auto& f) { casts_layout::for_each_value<Row>(f); });
        return out;
    }

    ColumnReader columns_;
    std::int64_t known_ = 0;
    Row first_{};  // of the newest sample
    std::map<std::int64_t, Extent> extents_;
};

}  // namespace

struct QuantizationReader::Impl {
    fs::path folder;
    StepRows<QuantizationRow> rows;
    StepRows<ScaleCodeCount> scales;
    std::vector<QuantizationSlot> slots;

    explicit Impl(const fs::path& run_folder)
        : folder(run_folder / casts_layout::folder_name),
          rows(folder / casts_layout::rows_name),
          scales(folder / casts_layout::scales_name) {}

    bool refresh() {
        if (!rows.refresh()) return false;
        // Slots and scales were written before the rows that use them.
        slots = casts_layout::read_slots(folder / casts_layout::slots_name);
        scales.refresh();
        return true;
    }

    /// Step of a file that is nearest; 0 if it has none.
    template <typename Row>
    static std::int64_t nearest(const StepRows<Row>& of, std::int64_t step) {
        std::int64_t best = 0;
        for (const std::int64_t each : of.steps())
            if (best == 0 || std::abs(each - step) < std::abs(best - step)) best = each;
        return best;
    }

    template <typename Row>
    std::vector<Row> checked(std::vector<Row> found) const {
        for (const Row& row : found)
            if (row.slot < 0 || static_cast<std::size_t>(row.slot) >= slots.size())
                throw Error(ErrorCode::data,
                            msg("{}: the record of the run's casts is damaged", folder.string()),
                            msg("Restore the file from a copy; the run does not need it."));
        return found;
    }
};

bool QuantizationReader::exists(const fs::path& run_folder) {
    std::error_code error;
    return fs::exists(run_folder / casts_layout::folder_name / casts_layout::rows_name, error);
}

QuantizationReader QuantizationReader::open(const fs::path& run_folder) {
    QuantizationReader reader(std::make_unique<Impl>(run_folder));
    reader.refresh();
    return reader;
}

QuantizationReader::QuantizationReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
QuantizationReader::~QuantizationReader() = default;
QuantizationReader::QuantizationReader(QuantizationReader&&) noexcept = default;
QuantizationReader& QuantizationReader::operator=(QuantizationReader&&) noexcept = default;

bool QuantizationReader::refresh() { return impl_->refresh(); }

std::vector<std::int64_t> QuantizationReader::steps() const { return impl_->rows.steps(); }

const std::vector<QuantizationSlot>& QuantizationReader::slots() const { return impl_->slots; }

std::vector<QuantizationRow> QuantizationReader::read(std::int64_t step) const {
    return impl_->checked(impl_->rows.rows_of(Impl::nearest(impl_->rows, step)));
}

std::vector<ScaleCodeCount> QuantizationReader::read_scale_codes(std::int64_t step) const {
    return impl_->checked(impl_->scales.rows_of(Impl::nearest(impl_->scales, step)));
}

Table to_table(std::span<const QuantizationRow> rows, std::span<const QuantizationSlot> slots) {
    Table out{{"tensor", "sums over", "format", "step"}};
    casts_layout::for_each_field(static_cast<const QuantizationRow*>(nullptr),
                           [&](const std::string& name, auto) {
                               if (name != "step" && name != "slot") out.columns.push_back(name);
                           });
    for (const QuantizationRow& row : rows) {
        const QuantizationSlot& slot = slots[static_cast<std::size_t>(row.slot)];
        Table::Row& cells = out.rows.emplace_back(
            Table::Row{slot.name(), slot.orientation, slot.format, row.step});
        casts_layout::for_each_field(&row, [&](const std::string& name, auto member) {
            if (name == "step" || name == "slot") return;
            if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(row.*member)>>)
                cells.push_back(finite_cell(static_cast<double>(row.*member)));
            else
                cells.emplace_back(row.*member);
        });
    }
    return out;
}

}  // namespace engine
