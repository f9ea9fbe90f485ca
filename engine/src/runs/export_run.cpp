#include <algorithm>
#include <filesystem>
#include <string>

#include "data/input_guide.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/io/named_file.h"
#include "engine/network/network_exports.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "engine/runs/run_listing.h"
#include "engine/settings/run_config.h"
#include "io/file/work_progress.h"
#include "io/safetensors/tensor_file.h"
#include "models/network_model.h"
#include "models/onnx_export.h"
#include "tasks/task_descriptor.h"
#include "tensor/dtype.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

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

constexpr char checkpoint_weights[] = "weights.safetensors";

struct ExportedCheckpoint {
    RunConfig config;
    fs::path weights;
    std::string source;  ///< "run 12, step 600"
};

ExportedCheckpoint open_checkpoint(const fs::path& folder, const ExportOptions& options) {
    const CheckpointInfo checkpoint = find_checkpoint(folder, options.checkpoint);
    const auto run = read_run_folder(folder);
    if (!run) throw Error(ErrorCode::data, msg("{}: not the folder of a run", folder.string()));
    return {run->summary.config, checkpoint.folder / checkpoint_weights,
            "run " + run->summary.run + ", step " + std::to_string(checkpoint.step)};
}

/// Writes the model of a checkpoint as ONNX. Its properties hold the data set, its classes or
/// targets, the words of a text, its tokenizer, normalisation, precision, and where it comes from.
/// The run's folder has all of that; the data set itself is not needed.
void export_onnx(const fs::path& run_folder, const fs::path& file, const ExportOptions& options) {
    const auto [config, weights, source] = open_checkpoint(run_folder, options);
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
    if (!guide.tokenizer.empty()) properties["tokenizer"] = guide.tokenizer;
    const DType dtype = options.half ? DType::f16 : DType::f32;
    write_named_file(file, onnx_model(onnx_graph(*model, shape, dtype), properties));
}

/// Writes the weights of a checkpoint in the form that PyTorch's load_state_dict expects, tied ones
/// under each of their names. The tokenizer of a text goes beside them: model.safetensors has
/// model.tokenizer.json.
void export_weights(const fs::path& run_folder, const fs::path& file,
                    const ExportOptions& options) {
    const auto [config, weights, source] = open_checkpoint(run_folder, options);
    TensorMap tensors = load_tensors(weights);
    const InputGuide guide = read_input_guide(run_folder);
    const ModelShape shape = make_task(config, guide.schema)->model_shape();
    const auto model = make_model(config.model, shape, std::nullopt, Device{});
    for (const TensorAlias& alias : model->aliases()) {
        const auto found = tensors.find(alias.of);
        if (found != tensors.end()) tensors.emplace(alias.name, found->second);
    }
    // Programs built on the safetensors library ask for this before they load a file.
    save_tensors(file, tensors, NamedBy::person, {{"format", "pt"}});
    if (guide.tokenizer.empty() || is_standard_output(file)) return;
    write_named_file(fs::path(file).replace_extension(".tokenizer.json"), guide.tokenizer);
}

struct WrittenNetwork {
    std::string text{};
    Options options{};
};

/// The network of a run as a text: its own, or the template of a built-in model.
WrittenNetwork written_network(const ModelConfig& model) {
    WrittenNetwork out{{}, model.options};
    for (const std::string& line : model.network.all) out.text += line + '\n';
    if (!out.text.empty()) return out;
    const auto names = network_templates();
    if (std::ranges::find(names, model.kind) == names.end())
        throw Error(ErrorCode::settings, msg("{} has no text in the network notation.", model.kind),
                    msg("Export it as safetensors."));
    out.text = network_template(model.kind);
    return out;
}

/// Writes the network as PyTorch's modules, and the weights of a checkpoint beside it: model.py has
/// model.safetensors.
void export_pytorch(const fs::path& run_folder, const fs::path& file, const ExportOptions& options) {
    const RunConfig config = open_checkpoint(run_folder, options).config;
    if (model_descriptor(config.model)->output == ModelOutput::detections)
        throw Error(ErrorCode::settings, msg("Detectors cannot be written as PyTorch modules."),
                    msg("Export it as safetensors."));
    const auto [text, values] = written_network(config.model);
    const ModelShape shape = make_task(config, read_input_guide(run_folder).schema)->model_shape();
    const std::string python = network_to_pytorch(text, network_data(shape, values));
    const fs::path weights = fs::path(file).replace_extension(".safetensors");
    if (weights == file)
        throw Error(ErrorCode::value, msg("{}: the weights are written there.", file.string()),
                    msg("Name the text of the network otherwise, as in model.py."));
    if (!is_standard_output(file)) export_weights(run_folder, weights, options);
    write_named_file(file, python);
}

/// Writes the network as a text whose options have the run's values.
void export_network(const fs::path& run_folder, const fs::path& file, const ExportOptions&) {
    const auto run = read_run_folder(run_folder);
    if (!run) throw Error(ErrorCode::data, msg("{}: not the folder of a run", run_folder.string()));
    const auto [text, values] = written_network(run->summary.config.model);
    report_work(1);
    write_named_file(file, network_with_options(text, values));
}

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

void write_boards(const std::vector<RunSummary>& runs, const fs::path& file, const ExportOptions&) {
    for (const RunSummary& run : runs) export_tensorboard(run.folder, file / run.run);
}

void write_csv(const std::vector<RunSummary>& runs, const fs::path& file,
               const ExportOptions& options) {
    std::vector<CsvRun> named;
    for (const RunSummary& run : runs)
        named.push_back({run.title.empty() ? run.run : run.title, run.folder});
    export_csv(named, file, options.raw);
}

void write_archive(const std::vector<RunSummary>& runs, const fs::path& file,
                   const ExportOptions& options) {
    std::vector<fs::path> folders;
    for (const RunSummary& run : runs) folders.push_back(run.folder);
    export_group_file(folders, file, options.checkpoints);
}

}  // namespace

std::span<const ExportInfo> export_formats() {
    using Path = const fs::path&;
    using How = const ExportOptions&;
    constexpr bool of_checkpoint = true, takes_half = true, takes_raw = true;
    constexpr bool takes_checkpoints = true;
    static const std::vector<ExportInfo> list = {
        {"safetensors", "Weights (safetensors)",
         "The weights of a checkpoint under PyTorch's names.", ".safetensors", export_weights,
         nullptr, of_checkpoint},
        {"onnx", "ONNX model", "The model of a checkpoint for onnxruntime and other programs.",
         ".onnx", export_onnx, nullptr, of_checkpoint, takes_half},
        {"pytorch", "PyTorch (model.py)",
         "The network as modules of PyTorch, and the weights of a checkpoint beside it.", ".py",
         export_pytorch, nullptr, of_checkpoint},
        {"network", "Network (text)", "The network as a text that can be changed and trained.",
         ".network", export_network},
        {"tensorboard", "TensorBoard",
         "A folder with every figure of every step and epoch, for TensorBoard.", ".tensorboard",
         [](Path run, Path file, How) { export_tensorboard(run, file); }, write_boards},
        {"csv", "Steps (CSV)", "The figures of every step as a table.", ".csv",
         [](Path run, Path file, How how) { export_csv(run, file, how.raw); }, write_csv, false,
         false, takes_raw},
        {"json", "Figures (JSON)", "Settings, figures, epochs, events and every step.", ".json",
         [](Path run, Path file, How) { export_json(run, file); }},
        {"run", "Whole run",
         "Everything that the run has on disk in one file, to be imported on another machine.",
         ".halftone",
         [](Path run, Path file, How how) { export_run_file(run, file, how.checkpoints); },
         write_archive, false, false, false, takes_checkpoints}};
    return list;
}

std::string network_to_onnx(std::string_view text, const NetworkData& data, std::int64_t seed) {
    constexpr std::int64_t usual_window = 35;
    ModelShape shape{{}, data.outputs};
    for (const NetworkInput& input : data.inputs) {
        FieldSpec field{.name = input.field, .shape = Shape(input.sizes)};
        for (const FieldKind kind : {FieldKind::image, FieldKind::features, FieldKind::tokens, FieldKind::indices})
            if (input.field == name(kind)) field.kind = kind;
        if (!input.counts.empty()) {
            field.dtype = DType::i64;
            field.cardinality = std::ranges::max(input.counts);
        }
        field.windowed = field.kind == FieldKind::tokens;
        if (field.windowed) field.shape = {usual_window};
        shape.inputs.push_back(std::move(field));
    }
    // Before anything is allocated: more than ONNX's 2 GiB, whatever this machine could hold.
    constexpr std::int64_t most_weights = std::int64_t{1} << 29;
    if (check_network(text, data).parameter_count() > most_weights)
        throw Error(ErrorCode::data, msg("The network has more weights than the 2 GiB of an ONNX file hold."));
    const auto model = make_network_model(text, data.options, shape, seed, Device{});
    if (const std::int64_t context = model->context(); context > 0)
        for (FieldSpec& field : shape.inputs)
            if (field.windowed) field.shape = {std::min(usual_window, context)};
    return onnx_model(onnx_graph(*model, shape, DType::f32), {});
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

}  // namespace engine
