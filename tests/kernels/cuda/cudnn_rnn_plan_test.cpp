#include <gtest/gtest.h>

#include <vector>

#include "cuda/cudnn_rnn_plan.h"
#include "cuda/library.h"
#include "kernels/device_error.h"
#include "kernels/needs_cudnn.h"
#include "kernels/recurrent_network_run.h"

// How the real cuDNN handles recurrent networks without a device: it accepts descriptions, and
// rejects unsupported combinations. Sizes and places of weights require a handle.
namespace kernels::test {
namespace {

using namespace cuda::rnn;

constexpr Cell cells[] = {Cell::relu, Cell::tanh, Cell::lstm, Cell::gru};

Status set(const NetworkDescriptor& network, Cell cell, const Arithmetic& a, Bias bias = Bias::two,
           Direction direction = Direction::one) {
    return table().network_set(network.get(), Algorithm::standard, cell, bias, direction,
                               Input::linear, a.data, a.precision, a.math, 5, 7, 7, 2, nullptr,
                               padding_off);
}

TEST(CudnnRnn, TakesEveryCellTypeAndForm) {
    HALFTONE_NEEDS_CUDNN();
    for (const Cell cell : cells)
        for (const DType dtype : floating)
            for (const bool tf32 : {false, true})
                for (const Bias bias : {Bias::none, Bias::two})
                    for (const Direction direction : {Direction::one, Direction::both}) {
                        const NetworkDescriptor network;
                        const Arithmetic a = arithmetic_of({.dtype = dtype, .tf32 = tf32});
                        EXPECT_EQ(set(network, cell, a, bias, direction), success)
                            << static_cast<int>(cell) << " dtype " << static_cast<int>(dtype);
                    }
}

TEST(CudnnRnn, SaysThatItHasNoSumsInAnotherWideType) {
    HALFTONE_NEEDS_CUDNN();
    const NetworkDescriptor network;
    const Status wider = set(network, Cell::lstm, {DataType::f32, DataType::f64, Math::fma});
    EXPECT_TRUE(is_not_supported(wider)) << wider;
    const Status narrower = set(network, Cell::lstm, {DataType::bf16, DataType::f16, Math::fma});
    EXPECT_TRUE(is_not_supported(narrower)) << narrower;
}

TEST(CudnnRnn, ChoosesItsArithmeticByTypeAlone) {
    const auto math = [](DType dtype, bool tf32) {
        return arithmetic_of({.dtype = dtype, .tf32 = tf32}).math;
    };
    EXPECT_EQ(math(DType::f32, false), Math::fma);
    EXPECT_EQ(math(DType::f32, true), Math::standard);
    for (const DType low : {DType::f16, DType::bf16}) {
        EXPECT_EQ(math(low, true), Math::tensor_op);
        EXPECT_EQ(arithmetic_of({.dtype = low}).precision, DataType::f32);
    }
    EXPECT_EQ(arithmetic_of({.dtype = DType::f64}).precision, DataType::f64);
}

TEST(CudnnRnn, TakesSequencesAndStatesOfEveryType) {
    HALFTONE_NEEDS_CUDNN();
    const std::vector<int> lengths(6, 4);
    const int dims[] = {4, 6, 7}, strides[] = {42, 7, 1};
    for (const DType dtype : floating) {
        const DataType type = arithmetic_of({.dtype = dtype}).data;
        const SequenceDescriptor sequence;
        EXPECT_EQ(table().sequence_set(sequence.get(), type, Layout::packed, 4, 6, 5,
                                       lengths.data(), nullptr),
                  success);
        const TensorDescriptor state;
        ASSERT_EQ(table().tensor_set(state.get(), type, 3, dims, strides), success);
        DataType read{};
        int rank = 0, read_dims[8] = {}, read_strides[8] = {};
        ASSERT_EQ(table().tensor_get(state.get(), 8, &read, &rank, read_dims, read_strides),
                  success);
        EXPECT_EQ(read, type);
        EXPECT_EQ(rank, 3);
        EXPECT_EQ(read_dims[0] * read_dims[1] * read_dims[2], 4 * 6 * 7);
    }
}

// A plan frees its lengths once it has described the sequence.
TEST(CudnnRnn, KeepsItsOwnCopyOfTheLengths) {
    HALFTONE_NEEDS_CUDNN();
    using Get = Status (*)(Sequence, DataType*, Layout*, int*, int*, int*, int, int*, void*);
    const auto get =
        reinterpret_cast<Get>(cuda::cudnn_library().function("cudnnGetRNNDataDescriptor"));
    const SequenceDescriptor sequence;
    std::vector<int> lengths(6, 4);
    ASSERT_EQ(table().sequence_set(sequence.get(), DataType::f32, Layout::packed, 4, 6, 5,
                                   lengths.data(), nullptr),
              success);
    lengths.assign(6, 99);
    std::vector<int> read(6);
    DataType type{};
    Layout layout{};
    int steps = 0, batch = 0, columns = 0;
    float padding = 0;
    ASSERT_EQ(
        get(sequence.get(), &type, &layout, &steps, &batch, &columns, 6, read.data(), &padding),
        success);
    EXPECT_EQ(read, std::vector<int>(6, 4));
    EXPECT_EQ(batch, 6);
}

TEST(CudnnRnn, NamesItsStatuses) {
    HALFTONE_NEEDS_CUDNN();
    EXPECT_THROW(check(no_host_memory, "a call"), OutOfMemory);
    EXPECT_THROW(check(no_device_memory, "a call"), OutOfMemory);
    try {
        check(not_supported, "a call");
        FAIL() << "no error";
    } catch (const DeviceError& error) {
        EXPECT_STREQ(error.what(), "a call: CUDNN_STATUS_NOT_SUPPORTED");
    }
    EXPECT_NO_THROW(check(success, "a call"));
}

}  // namespace
}  // namespace kernels::test
