// onnx_forward SETTINGS.json FIELD OUTPUTS TYPE IN.safetensors OUT.safetensors OUT.onnx: the
// forward pass of a model in evaluation mode, and the model as ONNX, for onnx_models.py.
//
// SETTINGS: those of a run; model.kind, model.options, model.network and model.init_from count; without
// weights the initial ones are taken. FIELD: the input,
// "image 3 32 32", "features 7" or "tokens 12", or two, "features 13, ids 4 100" (tables and their
// rows), or "latent 16, image 3 32 32" for a model that draws such images; OUTPUTS: classes or
// words. TYPE: fp32 or fp16, of weights, inputs and outputs (batch norm stays fp32). IN: "0", "1",
// ... the input and the carried state; OUT: "0", "1", ... the output and the next state, as f32.

#include <fstream>
#include <iostream>
#include <sstream>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "io/safetensors/tensor_file.h"
#include "models/onnx_export.h"
#include "tensor/cast.h"

namespace engine {
namespace {

RunConfig read_settings(const char* path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return parse_run_config(text.str()).config;
}

FieldSpec read_field(const std::string& text, std::int64_t words) {
    std::istringstream in(text);
    FieldSpec field;
    in >> field.name;
    field.kind = field.name == "image"      ? FieldKind::image
                 : field.name == "features" ? FieldKind::features
                 : field.name == "latent"   ? FieldKind::other
                                            : FieldKind::tokens;
    for (std::int64_t size = 0; in >> size;) field.shape.push_back(size);
    if (field.name == "ids") {
        field.kind = FieldKind::indices;
        field.dtype = DType::i64;
        field.cardinality = field.shape[1];
        field.shape = {field.shape[0]};
    } else if (field.kind == FieldKind::tokens) {
        field.dtype = DType::i64;
        field.cardinality = words;
        field.windowed = true;
    }
    return field;
}

std::vector<FieldSpec> read_fields(const std::string& text, std::int64_t words) {
    std::vector<FieldSpec> fields;
    std::istringstream in(text);
    for (std::string one; std::getline(in, one, ',');) fields.push_back(read_field(one, words));
    return fields;
}

/// If the model draws images, the last image field is its output. That of a generator is not an
/// input.
ModelShape read_shape(const std::string& text, std::int64_t outputs) {
    ModelShape shape{read_fields(text, outputs), outputs};
    shape.output = shape.inputs.back().shape;
    if (shape.inputs.front().name == "latent") shape.inputs.pop_back();
    return shape;
}

TensorList read_inputs(const char* path, DType dtype) {
    const TensorMap tensors = load_tensors(path);
    TensorList out;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& given = tensors.at(std::to_string(i));
        out.push_back(is_floating(given.dtype()) ? to(given, dtype) : given);
    }
    return out;
}

void run(char** argv) {
    const RunConfig config = read_settings(argv[1]);
    const std::int64_t outputs = std::stoll(argv[3]);
    const ModelShape shape = read_shape(argv[2], outputs);
    const DType dtype = std::string(argv[4]) == "fp16" ? DType::f16 : DType::f32;
    const auto model = make_model(config.model, shape, 1, Device{});
    if (!config.model.init_from.empty()) load_weights(*model, config.model.init_from);
    write_named_file(argv[7],
                     onnx_model(onnx_graph(*model, shape, dtype), {{"precision", argv[4]}}));
    if (dtype == DType::f16) convert_weights(*model, dtype, true);
    model->training = false;
    const GradMode off(false);
    const TensorList found = model->forward(read_inputs(argv[5], dtype));
    TensorMap out;
    for (std::size_t i = 0; i < found.size(); ++i)
        out[std::to_string(i)] = to(found[i], DType::f32);
    save_tensors(argv[6], out);
}

}  // namespace
}  // namespace engine

int main(int argc, char** argv) {
    if (argc != 8) {
        std::cerr << "usage: onnx_forward SETTINGS FIELD OUTPUTS TYPE IN OUT ONNX\n";
        return 2;
    }
    try {
        engine::run(argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
