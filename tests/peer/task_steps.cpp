// task_steps SETTINGS.json IN.safetensors OUT.safetensors [IN OUT ...]: one training step for each
// pair of files, each from the file's own weights and state, for language_model_steps.py,
// transformer_steps.py, regression_steps.py, convnet_steps.py, drawing_steps.py, dlrm_steps.py and
// exported_steps.py.
//
// SETTINGS: those of a run, as `halftone train` reads them; the loss scale is scaler.init_scale.
// IN: "tokens" and "target" i64 (streams, window), with "masked" of the same shape for masked
// tokens, and "words" i64, how many the text has (without it: those of "decoder.bias"); or
// "features" (rows, F) and "target" (rows, 1) f32; or "image" (N, C, H, W) f32 and "label" (N) i64,
// with "latent" (N, L) f32 for an adversarial pair; or "dense" (rows, F) f32, "ids" (rows, T) and
// "label" (rows) i64; "classes" or "table_rows" i64, where the weights' names do not say how many
// there are; "state.0" (h) and "state.1" (c) where there is a state, which is zeros
// without them; every other tensor is a weight by PyTorch's name. OUT: "loss" and "metrics" f64,
// "grad.NAME" f32 (unscaled), "state.0", "state.1" f32 as the next step would read them, and as i64
// "found_inf", "resets" (streams whose state was zeroed) and "changed" (weights that the step
// changed).

#include <fstream>
#include <iostream>
#include <sstream>

#include "engine/base/error.h"
#include "io/safetensors/tensor_file.h"
#include "task_step.h"
#include "tensor/deferred_errors.h"
#include "tensor/device.h"

namespace engine {
namespace {

RunConfig read_settings(const char* path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const ParsedConfig parsed = parse_run_config(text.str());
    for (const SettingError& error : parsed.errors) std::cerr << error.str() << "\n";
    if (!file || !parsed.errors.empty())
        throw Error(ErrorCode::settings, std::string(path) + ": not the settings of a run");
    return parsed.config;
}

/// Removes a tensor from the map. Undefined if it is missing.
Tensor take(TensorMap& tensors, const std::string& name) {
    const auto node = tensors.extract(name);
    return node.empty() ? Tensor() : node.mapped();
}

/// The parts of one input file.
struct Input {
    Schema schema;
    DeviceBatch batch;
    TensorList state;
    TensorMap weights;
};

Input text_input(const Tensor& tokens, const Tensor& target, TensorMap rest) {
    Input in;
    for (int i = 0;; ++i) {
        const Tensor state = take(rest, "state." + std::to_string(i));
        if (!state.defined()) break;
        in.state.push_back(state);
    }
    const Tensor words = take(rest, "words"), masked = take(rest, "masked");
    FieldSpec field{.name = "tokens",
                    .kind = FieldKind::tokens,
                    .dtype = DType::i64,
                    .shape = {tokens.size(1)},
                    .cardinality = words.defined() ? static_cast<std::int64_t>(words.item())
                                                   : rest.at("decoder.bias").numel(),
                    .windowed = true};
    in.schema.add(field);
    field.name = "target";
    field.kind = FieldKind::label;
    in.schema.add(field);
    in.batch = {{tokens, target}, tokens.size(0), tokens.numel()};
    if (masked.defined()) in.batch.fields.push_back(masked);  // a field that the task adds
    in.weights = std::move(rest);
    return in;
}

Input table_input(const Tensor& features, const Tensor& target, TensorMap rest) {
    Input in;
    in.schema.add({.name = "features", .kind = FieldKind::features, .shape = {features.size(1)}});
    in.schema.add({.name = "target", .kind = FieldKind::value, .shape = {target.size(1)}});
    in.batch = {{features, target}, features.size(0), features.size(0)};
    in.weights = std::move(rest);
    return in;
}

/// The number of classes, given or from the last layer of a classifier; 1 for models that draw.
std::int64_t count_classes(TensorMap& weights) {
    if (const Tensor given = take(weights, "classes"); given.defined()) return static_cast<std::int64_t>(given.item());
    for (const char* name : {"fc.bias", "classifier.1.bias"}) {
        const auto found = weights.find(name);
        if (found != weights.end()) return found->second.numel();
    }
    return 1;
}

/// `latent`: undefined without an adversarial pair. Its task adds that field after the label.
Input picture_input(const Tensor& image, const Tensor& label, const Tensor& latent,
                    TensorMap rest) {
    Input in;
    const std::vector<std::string> names(static_cast<std::size_t>(count_classes(rest)), "class");
    in.schema = classified_images({image.size(1), image.size(2), image.size(3)}, {}, names);
    in.batch = {{in_layout(image, Layout::channels_last), label}, image.size(0), image.size(0)};
    if (latent.defined()) in.batch.fields.push_back(latent);
    in.weights = std::move(rest);
    return in;
}

Input click_input(const Tensor& dense, const Tensor& ids, const Tensor& label, TensorMap rest) {
    Input in;
    const Tensor rows = take(rest, "table_rows");
    in.schema.add({.name = "dense", .kind = FieldKind::features, .shape = {dense.size(1)}});
    in.schema.add({.name = "ids",
                   .kind = FieldKind::indices,
                   .dtype = DType::i64,
                   .shape = {ids.size(1)},
                   .cardinality = rows.defined() ? static_cast<std::int64_t>(rows.item()) : rest.at("emb_l.0.weight").size(0)});
    in.schema.add(
        {.name = "label", .kind = FieldKind::label, .dtype = DType::i64, .cardinality = 2});
    in.batch = {{dense, ids, label}, dense.size(0), dense.size(0)};
    in.weights = std::move(rest);
    return in;
}

Input read_input(const char* path) {
    TensorMap tensors = load_tensors(path);
    if (const Tensor dense = take(tensors, "dense"); dense.defined()) {
        const Tensor ids = take(tensors, "ids"), label = take(tensors, "label");
        if (!ids.defined() || !label.defined())
            throw Error(ErrorCode::data, std::string(path) + ": dense needs ids and label");
        return click_input(dense, ids, label, std::move(tensors));
    }
    const Tensor image = take(tensors, "image");
    if (image.defined()) {
        const Tensor label = take(tensors, "label"), latent = take(tensors, "latent");
        if (!label.defined())
            throw Error(ErrorCode::data, std::string(path) + ": image needs label");
        return picture_input(image, label, latent, std::move(tensors));
    }
    const Tensor tokens = take(tensors, "tokens"), features = take(tensors, "features");
    const Tensor target = take(tensors, "target");
    if (!target.defined() || tokens.defined() == features.defined())
        throw Error(
            ErrorCode::data,
            std::string(path) + ": needs target, and tokens or features, or image and label");
    return tokens.defined() ? text_input(tokens, target, std::move(tensors))
                            : table_input(features, target, std::move(tensors));
}

std::int64_t changed(const TensorMap& before, const TensorMap& after) {
    std::int64_t count = 0;
    for (const auto& [name, tensor] : before) {
        if (tensor.dtype() != DType::f32) continue;  // a batch norm's counter
        const auto* a = tensor.data_as<float>();
        const auto* b = after.at(name).data_as<float>();
        for (std::int64_t i = 0; i < tensor.numel(); ++i) count += a[i] != b[i] ? 1 : 0;
    }
    return count;
}

Tensor count_of(std::int64_t value) {
    return Tensor::full({}, static_cast<double>(value), DType::i64, Device{});
}

DeviceBatch on_device(DeviceBatch batch, const Device& device) {
    for (Tensor& field : batch.fields) field = field.copy_to(device);
    return batch;
}

void run_one(const RunConfig& config, const Device& device, const char* in_path,
             const char* out_path) {
    Input in = read_input(in_path);
    test::SingleSteps steps(config, in.schema, in.weights, device);
    const TensorMap before = steps.weights();
    test::StepResult found = steps.step(on_device(in.batch, device), std::move(in.state));
    TensorMap out = std::move(found.gradients);
    out["loss"] = Tensor::scalar(found.loss, DType::f64, Device{});
    out["metrics"] =
        Tensor::of(found.metrics, {static_cast<std::int64_t>(found.metrics.size())}, DType::f64);
    for (std::size_t i = 0; i < found.state.size(); ++i)
        out["state." + std::to_string(i)] = found.state[i];
    out["found_inf"] = count_of(found.found_inf ? 1 : 0);
    out["resets"] = count_of(found.resets);
    out["changed"] = count_of(changed(before, steps.weights()));
    save_tensors(out_path, out);
}

void run(int argc, char** argv) {
    const RunConfig config = read_settings(argv[1]);
    const Device device = resolve_device(config.device);
    for (int i = 2; i + 1 < argc; i += 2) run_one(config, device, argv[i], argv[i + 1]);
}

}  // namespace
}  // namespace engine

int main(int argc, char** argv) {
    if (argc < 4 || argc % 2 != 0) {
        std::cerr
            << "usage: task_steps SETTINGS.json IN.safetensors OUT.safetensors [IN OUT ...]\n";
        return 2;
    }
    try {
        engine::run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
