// onnx_cases FOLDER: reads each NAME.onnx of the folder and computes it for NAME.x, rows of f32, in
// evaluation mode, for onnx_node_cases.py. Writes NAME.y, rows of f32, or NAME.why, a sentence.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "engine/base/error.h"
#include "engine/network/onnx_import.h"
#include "models/model.h"
#include "models/network_model.h"
#include "tensor/tape.h"

namespace engine {
namespace {

std::vector<double> read_numbers(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<double> out;
    for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
        float each = 0;
        std::copy_n(bytes.data() + i, sizeof(float), reinterpret_cast<char*>(&each));
        out.push_back(static_cast<double>(each));
    }
    return out;
}

void compute(const std::filesystem::path& onnx, std::filesystem::path out) {
    const OnnxImport import = import_onnx(onnx);
    const std::int64_t width = import.data.inputs.at(0).sizes.at(0);
    const ModelShape shape{{{.name = "features", .kind = FieldKind::features, .shape = {width}}}, import.data.outputs};
    const auto model = make_network_model(import.text, {}, shape, 1, Device{}, true);
    const std::string weights = std::filesystem::path(onnx).replace_extension(".safetensors").string();
    write_onnx_weights(import, weights);
    if (!import.tensors.empty()) load_weights(*model, weights);
    model->training = false;
    const std::vector<double> x = read_numbers(std::filesystem::path(onnx).replace_extension(".x"));
    const auto rows = static_cast<std::int64_t>(x.size()) / width;
    const GradMode off(false);
    const Tensor y = model->forward({Tensor::of(x, Shape{rows, width}, DType::f32, Device{})}).front();
    std::ofstream file(out.replace_extension(".y"), std::ios::binary);
    for (const double each : y.values()) {
        const auto number = static_cast<float>(each);
        file.write(reinterpret_cast<const char*>(&number), sizeof(number));
    }
}

}  // namespace
}  // namespace engine

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: onnx_cases FOLDER\n";
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator(argv[1]))
        if (each.path().extension() == ".onnx") files.push_back(each.path());
    std::ranges::sort(files);
    for (const auto& file : files) {
        try {
            engine::compute(file, file);
        } catch (const std::exception& error) {
            std::ofstream(std::filesystem::path(file).replace_extension(".why")) << error.what();
        }
    }
    return 0;
}
