#include <gtest/gtest.h>

#include "kernels/elementwise.h"
#include "kernels/elementwise_rows.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

TEST(Compare, FollowsIeeeForEveryTypeAndRelation) {
    const std::vector<double> u = {1, 2, 3, 0, static_cast<double>(nan), 1};
    const std::vector<double> v = {1, 3, 2, -0.0, 1, static_cast<double>(nan)};
    for (DType dtype : floating) {
        const Buffer a(dtype, u), b(dtype, v);
        Buffer y(DType::boolean, a.size());
        const auto result = [&](CompareOp op) {
            cpu::compare(y, a, b, op, {});
            return y.values();
        };
        using V = std::vector<double>;
        EXPECT_EQ(result(CompareOp::eq), (V{1, 0, 0, 1, 0, 0}));
        EXPECT_EQ(result(CompareOp::ne), (V{0, 1, 1, 0, 1, 1}));
        EXPECT_EQ(result(CompareOp::lt), (V{0, 1, 0, 0, 0, 0}));
        EXPECT_EQ(result(CompareOp::le), (V{1, 1, 0, 1, 0, 0}));
        EXPECT_EQ(result(CompareOp::gt), (V{0, 0, 1, 0, 0, 0}));
        EXPECT_EQ(result(CompareOp::ge), (V{1, 0, 1, 1, 0, 0}));
    }
}

TEST(Compare, UsesAnOperandOfSizeOneForEveryElement) {
    const Buffer a(DType::i64, {1, 2, 3}), b(DType::i64, {2});
    Buffer y(DType::boolean, 3);
    cpu::compare(y, a, b, CompareOp::lt, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, 0, 0}));
    cpu::compare(y, b, a, CompareOp::lt, {});
    EXPECT_EQ(y.values(), (std::vector<double>{0, 0, 1}));
}

TEST(Where, CopiesBitsOfTheChosenSide) {
    const Buffer condition(DType::boolean, {1, 0, 1});
    Buffer a(DType::f32, {1, 2, 3});
    a.as<std::uint32_t>()[0] = 0x7fa12345;  // a signalling NaN
    const Buffer b(DType::f32, {-1});
    Buffer y(DType::f32, 3);
    cpu::where(y, condition, a, b, {});
    EXPECT_EQ(y.as<std::uint32_t>()[0], 0x7fa12345u);
    EXPECT_EQ(y.get(1), -1);
    EXPECT_EQ(y.get(2), 3);
}

TEST(CudaCompare, AnswersAsTheCpuForEveryTypeAndRelation) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (CompareOp op : compare_ops)
            for (std::int64_t skip : {0, 1, 3})
                for (const auto& [a, b] : {std::pair{1003, 1003}, {1003, 1}, {1, 1003}, {64, 64}}) {
                    const auto results = run_twins(
                        cpu::compare, cuda::compare, DType::boolean, std::max(a, b) - skip,
                        {awkward_buffer(dtype, a, 15), awkward_buffer(dtype, b, 16)}, skip,
                        [op](Compare f, Array y, const std::vector<ConstArray>& in) {
                            f(y, in[0], in[1], op, {});
                        });
                    ASSERT_TRUE(same(results.cuda, results.cpu)) << static_cast<int>(op);
                }
}

TEST(CudaWhere, CopiesBitsOfTheChosenSide) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (std::int64_t skip : {0, 1, 3})
            for (const auto& [a, b] : {std::pair{5003, 5003}, {5003, 1}, {1, 5003}, {1, 1}}) {
                const Buffer condition = awkward_buffer(DType::boolean, 5003, 17);
                const auto results = run_twins(
                    cpu::where, cuda::where, dtype, 5003 - skip,
                    {condition, awkward_buffer(dtype, a, 18), awkward_buffer(dtype, b, 19)}, skip,
                    [](Where f, Array y, const std::vector<ConstArray>& in) {
                        f(y, in[0], in[1], in[2], {});
                    });
                ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes());
            }
}

TEST(CudaSelect, LaunchesNothingForEmptyArrays) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0), truth(DType::boolean, 0);
    const auto before = cuda::call_counts().launches;
    cuda::compare(truth, none, none, CompareOp::eq, {});
    cuda::where(none, truth, none, none, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
