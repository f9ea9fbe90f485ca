#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/record/twin.h"
#include "record/column_file.h"

namespace engine {

/// The comparison of a twin, in the folder of its second run: `twin/layers.rec`, a file of columns
/// (record/record_layout.h) with a row for each step and layer, and `twin/twin.json`:
/// {"version":1,"reference":"12","layers":["conv1",...]}.
namespace twin_layout {

inline constexpr char folder_name[] = "twin";
inline constexpr char file_name[] = "layers.rec";
inline constexpr char names_name[] = "twin.json";

struct Row {
    std::int64_t step;
    std::int32_t layer;
    float error;
    float angle;
    std::uint8_t skipped;
    std::uint8_t resynced;
};

/// Calls f(name, member pointer) for each column, in file order.
template <typename F>
constexpr void for_each_field(F&& f) {
    f("step", &Row::step);
    f("layer", &Row::layer);
    f("error", &Row::error);
    f("angle", &Row::angle);
    f("skipped", &Row::skipped);
    f("resynced", &Row::resynced);
}

record_layout::Header make_header();

}  // namespace twin_layout

/// Writes it. One thread; readers may read meanwhile.
class TwinRecordWriter {
public:
    /// Makes the files, in place of those of an earlier twin. Throws Error(io).
    TwinRecordWriter(const std::filesystem::path& run_folder, const std::string& reference,
                     const std::vector<std::string>& layers);
    /// Continues the files of a twin that goes on after this many steps: drops later rows, and adds
    /// rows of NaN for steps that were not compared. Makes new files if these layers have none that
    /// can be continued. Throws Error(io).
    static TwinRecordWriter go_on(const std::filesystem::path& run_folder,
                                  const std::string& reference,
                                  const std::vector<std::string>& layers, std::int64_t steps);

    /// Appends the rows of one step and publishes them together. Throws Error(io).
    void append(std::span<const TwinRow> step);

private:
    explicit TwinRecordWriter(ColumnWriter columns) : columns_(std::move(columns)) {}

    ColumnWriter columns_;
};

}  // namespace engine
