#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "engine/runs/run_listing.h"
#include "runs/export_model.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr char checkpoint_weights[] = "weights.safetensors";
constexpr std::size_t longest_title = 100;

/// A title that is a file's name on any system.
bool names_a_file(const std::string& title) {
    constexpr std::string_view special = "/\\:*?\"<>|";
    return !title.empty() && title.size() <= longest_title && title.front() != '.' &&
           title.front() != '-' && std::none_of(title.begin(), title.end(), [&](char c) {
               return static_cast<unsigned char>(c) < ' ' ||
                      special.find(c) != std::string_view::npos;
           });
}

void export_checkpoint(const fs::path& folder, ExportFormat format, const fs::path& file,
                       const ExportOptions& options) {
    const CheckpointInfo checkpoint = find_checkpoint(folder, options.checkpoint);
    const fs::path weights = checkpoint.folder / checkpoint_weights;
    const auto run = read_run_folder(folder);
    if (!run) throw Error(ErrorCode::data, msg("{}: not the folder of a run", folder.string()));
    const RunConfig& config = run->summary.config;
    if (format == ExportFormat::safetensors) return export_weights(folder, config, weights, file);
    const std::string source =
        "run " + run->summary.run + ", step " + std::to_string(checkpoint.step);
    export_onnx(folder, config, weights, source, options.half ? DType::f16 : DType::f32, file);
}

}  // namespace

std::span<const ExportInfo> export_formats() {
    static const std::array<ExportInfo, 6> list = {{
        {ExportFormat::safetensors, "safetensors", "Weights (safetensors)",
         "The weights of a checkpoint under PyTorch's names.", ".safetensors", true, false},
        {ExportFormat::onnx, "onnx", "ONNX model",
         "The model of a checkpoint for onnxruntime and other programs.", ".onnx", true, false},
        {ExportFormat::tensorboard, "tensorboard", "TensorBoard",
         "A folder with every figure of every step and epoch, for TensorBoard.", ".tensorboard",
         false, true},
        {ExportFormat::csv, "csv", "Steps (CSV)", "The figures of every step as a table.", ".csv",
         false, false},
        {ExportFormat::json, "json", "Figures (JSON)",
         "Settings, figures, epochs, events and every step.", ".json", false, false},
        {ExportFormat::run, "run", "Whole run",
         "Everything that the run has on disk in one file, to be imported on another machine.",
         ".halftone", false, false},
    }};
    return list;
}

const ExportInfo* find_export(std::string_view name) {
    const auto all = export_formats();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ExportInfo& info) { return info.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string export_file_name(const RunSummary& run, const ExportInfo& format) {
    const bool titled = names_a_file(run.title);
    return (titled ? run.title : "run-" + run.folder.filename().string()) + format.ending;
}

void export_run(const fs::path& folder, ExportFormat format, const fs::path& file,
                const ExportOptions& options) {
    switch (format) {
        case ExportFormat::safetensors:
        case ExportFormat::onnx:
            return export_checkpoint(folder, format, file, options);
        case ExportFormat::tensorboard:
            return export_tensorboard(folder, file);
        case ExportFormat::csv:
            return export_csv(folder, file, options.raw);
        case ExportFormat::json:
            return export_json(folder, file);
        case ExportFormat::run:
            return export_run_file(folder, file);
    }
}

}  // namespace engine
