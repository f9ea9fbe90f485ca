#include "tensor/transfer.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

const Tensor& rows() {
    static const Tensor values = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f32, Device{});
    return values;
}

TEST(Constant, HasTheNumbersOfTheHost) {
    const Tensor out = constant_on(default_device(), rows());
    EXPECT_EQ(out.device(), default_device());
    EXPECT_EQ(out.shape(), (Shape{2, 3}));
    EXPECT_EQ(out.values(), rows().values());
}

// Also on the CPU, where it would do no harm, so that what passes there passes on a GPU too.
TEST(Constant, IsRefusedWhereItsBytesAreNotItsNumbersInOrder) {
    for (const Tensor& host :
         {transpose(rows(), 0, 1), expand(rows().detach(), {2, 2, 3}), narrow(rows(), 1, 0, 2)}) {
        try {
            constant_on(default_device(), host);
            ADD_FAILURE() << "its bytes are others";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::state);
        }
    }
}

TEST(Constant, IsRefusedOfAGpu) {
    if (default_device().kind == Device::Kind::cpu) GTEST_SKIP() << "the default device is the CPU";
    EXPECT_THROW(constant_on(default_device(), Tensor::zeros({2}, DType::f32)), Error);
}

}  // namespace
}  // namespace engine
