#pragma once

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "data/loader/batch.h"
#include "data/schema.h"
#include "models/model.h"
#include "support/golden_file.h"
#include "tensor/tensor.h"

namespace engine::test {

/// The words of a text.
inline std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

inline std::vector<std::string> lines(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

/// The size and the shape of a batch.
struct BatchShape {
    std::int64_t size = 0;
    Shape sample;  ///< (C, H, W) or (F)
    std::int64_t classes = 0;

    /// The input, not normalised, and the label.
    Schema schema() const {
        std::vector<std::string> names(static_cast<std::size_t>(classes), "class");
        return sample.rank() == 3 ? classified_images(sample, plain(), std::move(names))
                                  : classified_features(plain(), std::move(names));
    }

private:
    Normalization plain() const {
        const auto count = static_cast<std::size_t>(sample[0]);
        return {std::vector<float>(count, 0), std::vector<float>(count, 1)};
    }
};

/// Reads golden/models.safetensors.xz, which tests/peer/model_golden.py writes: one PyTorch step of
/// each model in each precision.
class ModelGolden {
public:
    bool has(const std::string& kind) const { return file_.texts().contains(kind + ".count"); }
    std::vector<std::string> precisions() const { return words(file_.text("precisions")); }
    /// The precisions in which the file has a step of this model.
    std::vector<std::string> precisions(const std::string& kind) const {
        return words(file_.text(kind + ".precisions"));
    }
    /// The model settings that the step was made with.
    ModelConfig model(const std::string& kind) const {
        ModelConfig config;
        config.kind = kind;
        for (const std::string& option : words(file_.text(kind + ".options"))) {
            const std::size_t at = option.find('=');
            const std::string name = option.substr(0, at), value = option.substr(at + 1);
            if (name == "dropout")
                config.options[name] = std::stod(value);
            else
                config.options[name] = value;
        }
        return config;
    }
    /// "name size size ..." of each parameter, in PyTorch's order.
    std::vector<std::string> parameters(const std::string& kind) const {
        return lines(file_.text(kind + ".parameters"));
    }
    std::vector<std::string> buffers(const std::string& kind) const {
        return lines(file_.text(kind + ".buffers"));
    }
    /// The names of the parameters whose gradients are in the file.
    std::vector<std::string> compared(const std::string& kind) const {
        return lines(file_.text(kind + ".compared"));
    }
    std::int64_t parameter_count(const std::string& kind) const {
        return std::stoll(file_.text(kind + ".count"));
    }
    BatchShape batch(const std::string& kind) const {
        std::vector<std::int64_t> sizes;
        for (const auto& word : words(file_.text(kind + ".batch")))
            sizes.push_back(std::stoll(word));
        if (sizes.size() == 3) return {sizes[0], {sizes[1]}, sizes[2]};
        return {sizes.at(0), {sizes.at(3), sizes.at(1), sizes.at(2)}, sizes.at(4)};
    }
    /// For "loss": its value and the allowed difference. For a parameter: the norm of its gradient,
    /// the allowed difference of the norm, the allowed norm of the difference of the stored
    /// elements, and these elements.
    std::vector<double> figures(const std::string& kind, const std::string& precision,
                                const std::string& name) const {
        return file_.values(kind + "/" + precision + "/" + name);
    }

private:
    GoldenFile file_{"models"};
};

/// The script's uniform(): number `index` of a stream, in [-1, 1).
inline double uniform(std::uint32_t stream, std::uint32_t index) {
    std::uint32_t h = index * 0x9E3779B9u + stream * 0x85EBCA6Bu;
    h = (h ^ (h >> 16)) * 0x7FEB352Du;
    h = (h ^ (h >> 15)) * 0x846CA68Bu;
    h ^= h >> 16;
    return h / 0x1p31 - 1;
}

/// The script's weight() for each parameter.
inline TensorMap golden_weights(const Model& model) {
    TensorMap state;
    std::uint32_t stream = 1;  // 0 is the stream of the pixels
    for (const auto& [name, tensor, low] : model.parameters()) {
        const bool vector = tensor.rank() == 1;
        const auto fan_in = static_cast<double>(tensor.numel() / tensor.size(0));
        const double bound = vector ? 0.25 : std::sqrt(6 / fan_in);
        const double middle = !vector ? 0 : name.ends_with(".weight") ? 0.5 : 1;
        std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double drawn = uniform(stream, static_cast<std::uint32_t>(i));
            values[i] = static_cast<float>(drawn * bound + middle);
        }
        state[name] = Tensor::empty(tensor.shape(), DType::f32, Device{});
        state[name].copy_from_host(values.data());
        ++stream;
    }
    return state;
}

/// These weights and the model's own buffers.
inline TensorMap golden_state(const Model& model, const TensorMap& weights) {
    TensorMap state = saved_state(model);
    for (const auto& [name, tensor] : weights) state[name] = tensor;
    return state;
}

/// The script's pixels and labels.
inline Batch golden_batch(const BatchShape& shape) {
    Batch batch;
    batch.samples = shape.size;
    for (const FieldSpec& field : shape.schema().fields) {
        BatchField& to = batch.fields.emplace_back();
        to.shape = batch_shape(field, shape.size);
        to.dtype = field.dtype;
        to.bytes.resize(static_cast<std::size_t>(shape.size) * field.sample_bytes());
    }
    const auto pixels = batch.fields[0].values<float>();
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<float>(uniform(0, static_cast<std::uint32_t>(i)));
    const auto labels = batch.fields[1].values<std::int64_t>();
    for (std::int64_t i = 0; i < shape.size; ++i) {
        labels[static_cast<std::size_t>(i)] = i * 7 % shape.classes;
        batch.indices.push_back(i);
    }
    return batch;
}

}  // namespace engine::test
