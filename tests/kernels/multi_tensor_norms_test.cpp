#include <gtest/gtest.h>

#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_lists.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

TEST(MultiTensorL2Norm, X8IsThatOfAllAndOfEachTensor) {
    on_every_target([] {
        for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
            for (const int repeats : {1, 3}) {
                X8List x(type, 4, repeats);
                std::vector<float> norms(x.buffers.size(), -1);
                float total = -1;
                cpu::multi_tensor_l2_norm(&total, norms.data(), x.views(), {});
                double elements = 0;
                for (std::size_t k = 0; k < norms.size(); ++k) {
                    const auto size = static_cast<double>(x.buffers[k].size());
                    elements += size;
                    EXPECT_EQ(norms[k], static_cast<float>(4 * std::sqrt(size)));
                }
                EXPECT_EQ(total, static_cast<float>(4 * std::sqrt(elements)));
                cpu::multi_tensor_l2_norm(&total, nullptr, x.views(), {});
                EXPECT_EQ(total, static_cast<float>(4 * std::sqrt(elements)));
            }
    });
}

TEST(MultiTensorL2Norm, X8WithAFactor) {
    // First scaled by 1/2, as after the scale kernel.
    X8List x(DType::f16, 4, 1), half(DType::f32, 0, 1);
    float found = 0, total = 0;
    cpu::multi_tensor_axpby(half.arrays(), 0.5, x.views(), 0, {}, &found, {});
    cpu::multi_tensor_l2_norm(&total, nullptr, half.views(), {});
    EXPECT_EQ(total, static_cast<float>(2 * std::sqrt(777 + 555 + 65537 + 1)));
}

TEST(MultiTensorL2Norm, NeitherOverflowsNorVanishes) {
    Buffer large(DType::f32, {0x1p120, 0x1p120}), small(DType::f32, {0x1p-130, 0});
    float total = 0;
    cpu::multi_tensor_l2_norm(&total, nullptr, std::vector<ConstArray>{large}, {});
    EXPECT_EQ(total, static_cast<float>(std::sqrt(2.0) * 0x1p120));
    cpu::multi_tensor_l2_norm(&total, nullptr, std::vector<ConstArray>{small}, {});
    EXPECT_EQ(total, 0x1p-130f);
    cpu::multi_tensor_l2_norm(&total, nullptr, {}, {});
    EXPECT_EQ(total, 0);
}

TEST(CudaMultiTensorL2Norm, X8IsTheCpusToTheOrderOfTheSum) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
        for (const int repeats : {1, 55}) {
            if (repeats > 1 && type != DType::f16) continue;
            const auto x = random_list(type, repeats);
            const std::vector<ConstArray> views(x.begin(), x.end());
            std::vector<float> norms(x.size());
            float total = 0;
            cpu::multi_tensor_l2_norm(&total, norms.data(), views, {});
            const DeviceList dx(x);
            const DeviceBuffer device_norms(DType::f32, static_cast<std::int64_t>(x.size()));
            const DeviceValue<float> device_total(-1);
            cuda::multi_tensor_l2_norm(device_total.get(), device_norms.as<float>(), dx.views(),
                                       {});
            // The sums in f64 differ by far less than half a unit of f32: by one rounding at most.
            EXPECT_NEAR(static_cast<double>(device_total.host()), static_cast<double>(total),
                        static_cast<double>(total) * 0x1p-23);
            const Buffer actual = device_norms.host();
            for (std::size_t k = 0; k < norms.size(); ++k)
                EXPECT_NEAR(actual.get(static_cast<std::int64_t>(k)), static_cast<double>(norms[k]),
                            static_cast<double>(norms[k]) * 0x1p-23);
        }
}

}  // namespace
}  // namespace kernels::test
