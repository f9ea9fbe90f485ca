#include "runs/export_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/input_guide.h"
#include "io/safetensors/tensor_file.h"
#include "models/onnx_export.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

using nlohmann::ordered_json;
using Properties = std::map<std::string, std::string>;

constexpr std::size_t most_names = 100000;

std::string text(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string text(const Normalization& of) {
    return text(ordered_json{{"mean", of.mean}, {"deviation", of.deviation}});
}

/// Describes the inputs and outputs. A data set may have both classes and targets: those that match
/// the model's number of outputs count.
void describe(const Schema& data, const ModelShape& shape, bool normalized, Properties& out) {
    const FieldSpec& input = shape.inputs.front();
    if (normalized && !input.normalization.empty())
        out["input_normalization"] = text(input.normalization);
    if (!input.names.empty() && input.names.size() <= most_names) out["inputs"] = text(input.names);
    const auto outputs = static_cast<std::size_t>(shape.outputs);
    const FieldSpec* label = data.find(FieldKind::label);
    if (label != nullptr && label->names.size() == outputs && outputs <= most_names)
        out["classes"] = text(label->names);
    const FieldSpec* target = data.find(FieldKind::value);
    if (target == nullptr || target->names.size() != outputs) return;
    out["targets"] = text(target->names);
    // Targets are always learnt in units of their standard deviation.
    if (!target->normalization.empty()) out["output_normalization"] = text(target->normalization);
}

}  // namespace

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
    if (!guide.vocabulary.empty() && guide.vocabulary.size() <= most_names) {
        std::vector<std::string> vocabulary = guide.vocabulary;
        for (const std::string& token : task->added_tokens()) vocabulary.push_back(token);
        properties["vocabulary"] = text(vocabulary);
    }
    const ModelOutput output = model_descriptor(config.model.kind).output;
    write_onnx(file, onnx_graph(*model, shape, output, dtype), properties);
}

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

}  // namespace engine
