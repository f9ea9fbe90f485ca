#include <gtest/gtest.h>

#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_lists.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

TEST(MultiTensorAxpby, X8Scales4By0Point25To1) {
    on_every_target([] {
        for (const DType from : {DType::f32, DType::f16, DType::bf16, DType::f64})
            for (const DType to : {DType::f32, DType::f16, DType::f64})
                for (const int repeats : {1, 2}) {
                    X8List x(from, 4, repeats), out(to, 9, repeats);
                    float found = 0;
                    cpu::multi_tensor_axpby(out.arrays(), 0.25, x.views(), 0, {}, &found, {});
                    EXPECT_EQ(found, 0);
                    for (const Buffer& b : out.buffers) EXPECT_TRUE(all_are(b, 1));
                }
    });
}

TEST(MultiTensorAxpby, X8TakesListsRepeated55Times) {
    X8List x(DType::f16, 4, 55), out(DType::f32, 9, 55);
    float found = 0;
    cpu::multi_tensor_axpby(out.arrays(), 0.25, x.views(), 0, {}, &found, {});
    EXPECT_EQ(found, 0);
    for (const Buffer& b : out.buffers) EXPECT_TRUE(all_are(b, 1));
}

TEST(MultiTensorAxpby, X8Makes136Of2Times4And8Times16) {
    on_every_target([] {
        for (const DType a : {DType::f32, DType::f16})
            for (const DType b : {DType::f32, DType::f16})
                for (const DType to : {DType::f32, DType::f16}) {
                    X8List x(a, 4, 1), y(b, 16, 1), out(to, 9, 1);
                    float found = 0;
                    cpu::multi_tensor_axpby(out.arrays(), 2, x.views(), 8, y.views(), &found, {});
                    EXPECT_EQ(found, 0);
                    for (const Buffer& buffer : out.buffers) EXPECT_TRUE(all_are(buffer, 136));
                }
    });
}

TEST(MultiTensorAxpby, X8FindsWhatIsNotFiniteFirstLastOrInTheMiddle) {
    on_every_target([] {
        for (const DType type : {DType::f32, DType::f16, DType::f64})
            for (const float bad : {infinity, -infinity, nan})
                for (std::size_t k = 0; k < x8_sizes.size(); ++k)
                    for (const std::int64_t at :
                         {std::int64_t{0}, x8_sizes[k] / 2, x8_sizes[k] - 1})
                        for (const bool in_y : {false, true}) {
                            X8List x(type, 4, 1), y(type, 16, 1), out(DType::f32, 0, 1);
                            (in_y ? y : x).buffers[k].set(at, static_cast<double>(bad));
                            float found = 0;
                            cpu::multi_tensor_axpby(out.arrays(), 2, x.views(), 8, y.views(),
                                                    &found, {});
                            ASSERT_EQ(found, 1);
                        }
    });
}

TEST(CudaMultiTensorAxpby, X8GivesTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
        for (const DType to : {DType::f32, DType::f16, DType::f64})
            for (const bool two : {false, true}) {
                const int repeats = type == DType::f16 && to == DType::f32 ? 55 : 1;
                const auto x = random_list(type, repeats), y = random_list(DType::f32, repeats);
                auto expected = random_list(to, repeats);
                std::vector<ConstArray> xs(x.begin(), x.end()), ys(y.begin(), y.end());
                float found = 0;
                cpu::multi_tensor_axpby(std::vector<Array>(expected.begin(), expected.end()), 0.3,
                                        xs, 1.7, two ? ys : std::vector<ConstArray>{}, &found, {});
                const DeviceList dx(x), dy(y), dout(expected);
                const DeviceValue<float> flag(0);
                cuda::multi_tensor_axpby(dout.arrays(), 0.3, dx.views(), 1.7,
                                         two ? dy.views() : std::vector<ConstArray>{}, flag.get(),
                                         {});
                EXPECT_EQ(flag.host(), 0);
                for (std::size_t k = 0; k < expected.size(); ++k)
                    ASSERT_EQ(dout.buffers[k]->host().bytes(), expected[k].bytes());
            }
}

TEST(CudaMultiTensorAxpby, X8FindsWhatIsNotFinite) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::f64})
        for (const std::size_t k : {0u, 2u, 3u})
            for (const bool in_y : {false, true}) {
                auto x = random_list(type, 1), y = random_list(type, 1);
                Buffer& spoiled = (in_y ? y : x)[k];
                spoiled.set(spoiled.size() / 2, static_cast<double>(infinity));
                const DeviceList dx(x), dy(y), out(random_list(DType::f32, 1));
                const DeviceValue<float> flag(0);
                cuda::multi_tensor_axpby(out.arrays(), 2, dx.views(), 8, dy.views(), flag.get(),
                                         {});
                EXPECT_EQ(flag.host(), 1);
            }
}

}  // namespace
}  // namespace kernels::test
