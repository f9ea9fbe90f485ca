#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "engine/record/step_record.h"
#include "record/column_file.h"
#include "record/record_layout.h"

namespace engine {

/// Writes a run's step record. One thread; readers may read in any thread or process meanwhile. No
/// call waits for the disk, and what is published survives the death of the process.
class StepRecordWriter {
public:
    /// Creates the record in a run's folder, which has none, with the first `metrics` of the
    /// columns metric_1, metric_2, ..., and with these others. Throws Error(io).
    static StepRecordWriter create(const std::filesystem::path& run_folder, std::size_t metrics = 0,
                                   const record_layout::OptionalColumns& optional = {});

    /// Continues the record of a run's folder after its first `rows` rows; later ones are dropped.
    /// A record of an earlier version continues without the columns that it lacks. Throws
    /// Error(data) if the record has fewer rows, or other columns, and Error(io).
    static StepRecordWriter open(const std::filesystem::path& run_folder, std::int64_t rows,
                                 std::size_t metrics = 0);

    /// Writes the row and publishes it. Throws Error(io) if the disk has no room for the next
    /// chunk; the rows before stay whole, and a later call tries again. Throws Error(data) if it
    /// finds that another program cut the file short.
    void append(const StepRecord& record);
    /// Throws Error(data) if another program removed the file, cut it short or overwrote its
    /// header. append() notices only a page that is gone; call this now and then.
    void check() const { columns_.check(); }
    /// Rows published so far.
    std::int64_t published() const { return columns_.published(); }
    /// Reads this record, from the beginning and on.
    StepRecordReader reader() const;

private:
    StepRecordWriter(ColumnWriter columns, const record_layout::Header& header);

    ColumnWriter columns_;
    std::vector<std::size_t> column_of_field_;  ///< in the file; field_count(): it has none
};

}  // namespace engine
