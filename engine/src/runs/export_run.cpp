#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "data/input_guide.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/io/named_file.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "engine/runs/run_listing.h"
#include "engine/settings/run_config.h"
#include "io/safetensors/tensor_file.h"
#include "models/onnx_export.h"
#include "tasks/task_descriptor.h"
#include "tensor/dtype.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;
using Properties = std::map<std::string, std::string>;

constexpr std::size_t max_names = 100000;

std::string text(const ordered_json& value) { return dumped(value); }

std::string text(const Normalization& of) {
    return text(ordered_json{{"mean", of.mean}, {"deviation", of.deviation}});
}

/// Describes the inputs and outputs. A data set may have both classes and targets: those that match
/// the model's number of outputs count.
void describe(const Schema& data, const ModelShape& shape, bool normalized, Properties& out) {
    const FieldSpec& input = shape.inputs.front();
    if (normalized && !input.normalization.empty())
        out["input_normalization"] = text(input.normalization);
    if (!input.names.empty() && input.names.size() <= max_names) out["inputs"] = text(input.names);
    const auto outputs = static_cast<std::size_t>(shape.outputs);
    const FieldSpec* label = data.find(FieldKind::label);
    if (label != nullptr && label->names.size() == outputs && outputs <= max_names)
        out["classes"] = text(label->names);
    const FieldSpec* target = data.find(FieldKind::value);
    if (target == nullptr || target->names.size() != outputs) return;
    out["targets"] = text(target->names);
    // Targets are always learnt in units of their standard deviation.
    if (!target->normalization.empty()) out["output_normalization"] = text(target->normalization);
}

/// Writes the model of a checkpoint as ONNX. Its properties hold the data set, its classes or
/// targets, the words of a text, normalisation, precision, and `source` ("run 12, step 600"). The
/// run's folder has all of that; the data set itself is not needed. Throws Error(data),
/// Error(settings) and Error(io).
void export_onnx(const std::filesystem::path& run_folder, const RunConfig& config,
                 const std::filesystem::path& weights, const std::string& source, DType dtype,
                 const std::filesystem::path& file) {
    const InputGuide guide = read_input_guide(run_folder);
    const auto task = make_task(config, guide.schema);
    const ModelShape shape = task->model_shape();
    const auto model = make_model(config.model, shape, std::nullopt, Device{});
    load_weights(*model, weights.string());
    Properties properties = {{"source", source},
                             {"data_set", config.dataset.kind},
                             {"model", config.model.kind},
                             {"precision", config.precision.preset}};
    describe(guide.schema, shape, config.dataset.normalize, properties);
    if (!guide.vocabulary.empty() && guide.vocabulary.size() <= max_names) {
        std::vector<std::string> vocabulary = guide.vocabulary;
        for (const std::string& token : task->added_tokens()) vocabulary.push_back(token);
        properties["vocabulary"] = text(vocabulary);
    }
    write_named_file(file, onnx_model(onnx_graph(*model, shape, dtype), properties));
}

/// Writes the weights of a checkpoint in the form that PyTorch's load_state_dict expects, tied ones
/// under each of their names. Throws Error(data) and Error(io).
void export_weights(const std::filesystem::path& run_folder, const RunConfig& config,
                    const std::filesystem::path& weights, const std::filesystem::path& file) {
    TensorMap tensors = load_tensors(weights);
    const ModelShape shape = make_task(config, read_input_guide(run_folder).schema)->model_shape();
    const auto model = make_model(config.model, shape, std::nullopt, Device{});
    for (const TensorAlias& alias : model->aliases()) {
        const auto found = tensors.find(alias.of);
        if (found != tensors.end()) tensors.emplace(alias.name, found->second);
    }
    save_tensors(file, tensors);
}

constexpr char checkpoint_weights[] = "weights.safetensors";
constexpr std::size_t max_title_size = 100;

/// A title that is a file's name on any system.
bool names_a_file(const std::string& title) {
    constexpr std::string_view special = "/\\:*?\"<>|";
    return !title.empty() && title.size() <= max_title_size && title.front() != '.' &&
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
