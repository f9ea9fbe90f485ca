#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/runs/run_store.h"

namespace engine {

/// Checkpoints that the file of a whole run holds. Without one it has all figures, and can neither
/// be continued nor tried.
enum class PackedCheckpoints { none, best, all };

struct ExportOptions {
    std::string checkpoint = "last";  ///< "best", "last" or a step
    bool half = false;                ///< ONNX: weights, inputs and outputs in fp16
    bool raw = false;                 ///< CSV: texts as they are, see csv_cell()
    PackedCheckpoints checkpoints = PackedCheckpoints::all;  ///< whole run
};

/// A form that a run can be exported in. Texts are English; the window translates them by looking
/// the whole text up.
struct ExportInfo {
    std::string name;     ///< as on the command line: "onnx"
    std::string title;    ///< "ONNX model"
    std::string summary;  ///< one sentence
    std::string ending;   ///< of the file's name: ".onnx"; of a folder's: ".tensorboard"
    /// Writes the run in `folder` to `file` (TensorBoard: into the folder `file`, which is
    /// created). Throws Error(data) for a run without a record or checkpoint, Error(settings) for a
    /// model that cannot be exported to that format, Error(io).
    void (*write)(const std::filesystem::path& folder, const std::filesystem::path& file,
                  const ExportOptions& options);
    /// Writes the runs of a comparison or sweep; null: the form holds one run.
    void (*write_runs)(const std::vector<RunSummary>& runs, const std::filesystem::path& file,
                       const ExportOptions& options) = nullptr;
    bool of_checkpoint = false;                  ///< reads weights from a checkpoint
    bool takes_half = false, takes_raw = false;  ///< of ExportOptions
    bool takes_checkpoints = false;              ///< of ExportOptions
};
std::span<const ExportInfo> export_formats();
/// Null if there is no such export format.
const ExportInfo* find_export(std::string_view name);

/// "run-12.onnx", or the run's title instead of its number if it is a valid file name.
std::string export_file_name(const RunSummary& run, const ExportInfo& format);

/// The run as one JSON object: settings, figures, metrics, epochs, events, and the step record
/// column by column; null where a figure was not measured, "nan", "inf", "-inf" for a result that
/// is not finite. Throws Error(data) and Error(io).
void export_json(const std::filesystem::path& run_folder, const std::filesystem::path& file);
/// The run as a TensorBoard event file in this folder: each column of the record as scalars
/// `train/NAME`, and `train/skipped`; `epoch/NAME`, `validation/NAME` and `test/NAME`; and the
/// settings as text. Throws Error(data) and Error(io).
void export_tensorboard(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder);
/// The files of a run's folder as one zip archive, for RunStore::import_run(). With all checkpoints,
/// a run that is being trained gives its newest one, and rows and events up to that. Throws
/// Error(data) and Error(io).
void export_run_file(const std::filesystem::path& run_folder, const std::filesystem::path& file,
                     PackedCheckpoints checkpoints = PackedCheckpoints::all);
/// Packs the runs of a comparison or sweep into one archive with a folder for each, which
/// RunStore::import_runs() reads.
void export_group_file(const std::vector<std::filesystem::path>& run_folders,
                       const std::filesystem::path& file,
                       PackedCheckpoints checkpoints = PackedCheckpoints::all);

/// The network of a text in the network notation as the bytes of an ONNX model, with the initial
/// weights that this seed draws. Throws Error(settings) for a text with a fault, and for a layer
/// that ONNX has no nodes for.
std::string network_to_onnx(std::string_view text, const NetworkData& data, std::int64_t seed);

}  // namespace engine
