#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/philox.h"
#include "ops/shape/view.h"
#include "tensor/tensor.h"
#include "tensor_file.h"

// Inputs and results of tests/peer/detection_golden.py.
namespace engine {

/// low + (high - low) * uniform, as the script's draw().
inline Tensor draw(std::uint32_t number, const Shape& shape, double low = 0, double high = 1) {
    const kernels::PhiloxStream random{{54, 0}, 0, number};
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = low + (high - low) * static_cast<double>(random.uniform(i));
    return Tensor::of(values, shape);
}

/// Boxes (count, 4): edges in [0, size), sides in [low, high).
inline Tensor draw_boxes(std::uint32_t number, std::int64_t count, double size, double low,
                         double high) {
    const auto corner = draw(number, {count, 2}, 0, size).values(),
               side = draw(number + 1, {count, 2}, low, high).values();
    std::vector<double> values;
    for (std::size_t i = 0; i < corner.size(); i += 2) {
        values.insert(values.end(), {corner[i], corner[i + 1]});
        for (std::size_t k = i; k < i + 2; ++k)
            values.push_back(static_cast<float>(corner[k]) + static_cast<float>(side[k]));
    }
    return Tensor::of(values, {count, 4});
}

/// A result of torchvision.
inline std::vector<double> golden(const std::string& name) {
    static const peer::TensorMap all =
        peer::read_tensors(std::filesystem::path(HALFTONE_GOLDEN_DIR) / "detection.safetensors.xz");
    return all.at(name).values();
}
inline std::uint32_t golden_number(const std::string& name) {
    return static_cast<std::uint32_t>(golden(name + ".draw").front());
}

}  // namespace engine
