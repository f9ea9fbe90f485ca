#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>

#include "record/step_record.h"
#include "temp_folder.h"

namespace engine {

/// The loss of a step.
using LossOf = std::function<double(std::int64_t step)>;

/// `level` plus normal noise with standard deviation `spread`, drawn in the order of the steps.
inline LossOf jittered(double level, double spread, unsigned seed) {
    return [=, engine = std::mt19937_64(seed), normal = std::normal_distribution<double>()](
               std::int64_t) mutable { return level + spread * normal(engine); };
}

/// A step record on disk with a given loss: 2 ms per step of 64 samples, at most 1 MiB of memory.
class MadeRecord {
public:
    MadeRecord(std::int64_t steps, const LossOf& loss,
               const std::function<void(StepRecord&)>& change = {}) {
        auto writer = StepRecordWriter::create(folder_.path());
        for (std::int64_t step = 1; step <= steps; ++step) {
            StepRecord row{};
            row.step = step;
            row.samples = 64 * step;
            row.loss = static_cast<float>(loss(step));
            row.step_ms = 2;
            row.peak_bytes = 1 << 20;
            row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
            if (change) change(row);
            writer.append(row);
        }
        reader_ = writer.reader();
    }
    const StepRecordReader& reader() const { return reader_; }
    const std::filesystem::path& folder() const { return folder_.path(); }

private:
    test_support::TempFolder folder_;
    StepRecordReader reader_;
};

}  // namespace engine
