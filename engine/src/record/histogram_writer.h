#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/histogram_record.h"
#include "record/column_writer.h"
#include "record/histogram_layout.h"

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
