#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/safetensors/safetensors.h"
#include "tensor/tensor.h"

namespace engine {

/// The file that tests/peer/optim_golden.py writes.
class Golden {
public:
    Golden()
        : file_(SafetensorsFile::open(std::filesystem::path(HALFTONE_GOLDEN_DIR) /
                                      "optim.safetensors")) {}

    nlohmann::json setting(const std::string& name) const {
        return nlohmann::json::parse(file_.metadata().at(name));
    }
    bool has(const std::string& name) const { return file_.find(name) != nullptr; }
    Tensor tensor(const std::string& name) const {
        const TensorEntry* entry = file_.find(name);
        if (entry == nullptr) throw std::out_of_range(name);
        Shape shape;
        for (const auto size : entry->shape) shape.push_back(size);
        const Tensor t = Tensor::empty(shape, entry->dtype == "F64" ? DType::f64 : DType::f32);
        EXPECT_EQ(entry->bytes.size(), t.bytes());
        t.copy_from_host(entry->bytes.data());
        return t;
    }

private:
    SafetensorsFile file_;
};

inline void expect_near(const Tensor& ours, const Tensor& theirs, double tolerance,
                        const std::string& what) {
    ASSERT_TRUE(ours.shape() == theirs.shape()) << what;
    const auto a = ours.values(), b = theirs.values();
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], tolerance) << what << " element " << i;
}

}  // namespace engine
