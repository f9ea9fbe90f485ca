#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"

// Records of a TensorBoard event file (TFRecord), each with length and checksums, ready to be
// written one after another. Times are seconds since 1970.
namespace engine {

/// In the name of every event file.
inline constexpr char tensorboard_mark[] = "tfevents";

/// CRC-32C of the bytes, masked, since checksums of data that hold checksums are weak.
std::uint32_t tensorboard_checksum(std::string_view bytes);

/// "events.out.tfevents.SECONDS.halftone"; TensorBoard reads the files of a folder in their order.
std::string tensorboard_file_name(double time);

/// The first record of a file.
std::string tensorboard_version(double time);
/// The settings as text, and for the tab HParams those that a result may depend on, with the
/// figures to compare: loss and `metrics` of the test, the loss of training.
std::string tensorboard_settings(const RunConfig& config, std::span<const Metric> metrics,
                                 double time);
/// Every column of a row as `train/NAME`, and `train/skipped`. Leaves out what was not measured.
std::string tensorboard_row(const StepRecord& row, std::span<const Metric> metrics, double time);
/// `epoch/NAME` where an epoch ended, `validation/NAME`, `test/NAME`.
std::string tensorboard_epoch(const EpochDone& epoch, double time);
/// A reader drops the steps from this one on that earlier files of the folder hold.
std::string tensorboard_restart(std::int64_t step, double time);
/// The state of the run for the tab HParams.
std::string tensorboard_end(bool failed, double time);

/// Calls put() with the records of a run's first `rows` rows and of the evaluations among them, a
/// piece at a time, and with the time and the share that was passed on. `time`: when the run was
/// made, for rows of earlier versions without a clock. Throws Error(data) and Error(io).
using PutRecords = std::function<void(const std::string& records, double time, double share)>;
void tensorboard_history(const std::filesystem::path& run_folder, const StepRecordReader& record,
                         std::int64_t rows, std::span<const Metric> metrics, double time,
                         const PutRecords& put);

}  // namespace engine
