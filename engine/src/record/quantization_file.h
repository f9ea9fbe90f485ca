#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "engine/record/quantization_record.h"
#include "record/column_file.h"

/// Data that a run keeps of the casts of its recipe, in its folder's `quantization`: tensors.json (the
/// slots), tensors.rec (a row for each slot of a sampled step) and scales.rec (a row for each scale
/// code that blocks of a slot have). The last two are files of columns (record/record_layout.h), and
/// a row names its slot by its place in tensors.json, which is written first. The rows of a step are
/// published together; those of tensors.rec last.
namespace engine::quantization_layout {

inline constexpr char folder_name[] = "quantization";
inline constexpr char slots_name[] = "tensors.json";
inline constexpr char rows_name[] = "tensors.rec";
inline constexpr char scales_name[] = "scales.rec";

/// Calls f(name, member pointer) for the columns, in file order.
template <typename F>
constexpr void for_each_field(const QuantizationRow*, F&& f) {
    f("step", &QuantizationRow::step);
    f("slot", &QuantizationRow::slot);
    f("amax", &QuantizationRow::amax);
    f("scale", &QuantizationRow::scale);
    f("block_scale_min", &QuantizationRow::block_scale_min);
    f("block_scale_max", &QuantizationRow::block_scale_max);
    f("history_max", &QuantizationRow::history_max);
    f("current_scale", &QuantizationRow::current_scale);
    f("scale_floor", &QuantizationRow::scale_floor);
    f("zero_blocks", &QuantizationRow::zero_blocks);
    f("elements", &QuantizationRow::elements);
    f("nonzero", &QuantizationRow::nonzero);
    f("zeroed", &QuantizationRow::zeroed);
    f("saturated", &QuantizationRow::saturated);
    f("subnormal", &QuantizationRow::subnormal);
    f("nonfinite", &QuantizationRow::nonfinite);
    f("error2", &QuantizationRow::error2);
    f("signal2", &QuantizationRow::signal2);
    f("noise2", &QuantizationRow::noise2);
}
template <typename F>
constexpr void for_each_field(const ScaleCodeCount*, F&& f) {
    f("step", &ScaleCodeCount::step);
    f("slot", &ScaleCodeCount::slot);
    f("code", &ScaleCodeCount::code);
    f("blocks", &ScaleCodeCount::blocks);
}

/// Calls f(column, value_of) for each column; value_of(row): the value.
template <typename Row, typename F>
void for_each_value(const F& f) {
    std::size_t column = 0;
    for_each_field(static_cast<const Row*>(nullptr), [&](const char*, auto member) {
        f(column++, [member](auto& row) -> auto& { return row.*member; });
    });
}

/// Header of the file of such rows.
template <typename Row>
record_layout::Header make_header();
/// Throws Error(data) unless the header is whole and has these columns.
template <typename Row>
void check_header(const record_layout::Header& header, const std::filesystem::path& file);

/// The slots in tensors.json. Throws Error(data) if the file is damaged.
std::vector<QuantizationSlot> read_slots(const std::filesystem::path& file);

}  // namespace engine::quantization_layout

namespace engine {

/// Keeps the samples of casts in a run's folder. Its files are made with the first sample. One
/// thread; readers may read meanwhile.
class QuantizationWriter {
public:
    explicit QuantizationWriter(std::filesystem::path run_folder);

    /// The place of a slot, which is added if it is new. A slot of the same name, role and
    /// orientation is the same one.
    std::int32_t place_of(const QuantizationSlot& slot);
    /// Appends a step's sample and publishes it whole. Throws Error(io), and Error(data) if the
    /// files that the run has are damaged or of another version.
    void append(std::span<const QuantizationRow> rows, std::span<const ScaleCodeCount> scales);

private:
    void open();

    std::filesystem::path folder_;
    std::optional<ColumnWriter> rows_, scales_;
    std::vector<QuantizationSlot> slots_;
    bool opened_ = false, grown_ = false;
};

}  // namespace engine
