#include "instruments/histograms/histogram_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "io/safetensors/tensor_file.h"
#include "temp_folder.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using test_support::TempFolder;
using testing::ElementsAre;
using testing::Key;
using testing::UnorderedElementsAre;

Tensor values(std::vector<double> numbers, DType dtype = DType::f32) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    return Tensor::of(numbers, {count}, dtype, Device{});
}

TEST(CountedTensors, NumbersFurtherTensorsOfOneName) {
    CountedTensors tensors;
    for (const double value : {1.0, 2.0, 3.0})
        tensors.add(HistogramKind::activations, "fc.output", values({value}));
    tensors.add(HistogramKind::gradients, "fc.output", values({4}));
    const TensorMap& found = tensors.of(HistogramKind::activations);
    EXPECT_THAT(found,
                UnorderedElementsAre(Key("fc.output"), Key("fc.output_2"), Key("fc.output_3")));
    EXPECT_EQ(found.at("fc.output_3").item(), 3);
}

TEST(CountedTensors, KeepsTheValuesThatWereCounted) {
    CountedTensors tensors;
    const Tensor weight = values({1, 2});
    tensors.add(HistogramKind::weights, "fc.weight", weight);
    copy_into(weight, values({5, 6}));
    EXPECT_THAT(tensors.of(HistogramKind::weights).at("fc.weight").values(), ElementsAre(1, 2));
}

TEST(CountedTensors, WritesAFileOfEachKindInTheTypeThatWasCounted) {
    const TempFolder folder;
    CountedTensors tensors;
    tensors.add(HistogramKind::activations, "fc.output", values({0.5, 6e-8}, DType::f16));
    tensors.add(HistogramKind::updates, "fc.weight", values({1e-10}));
    tensors.write(folder / "new" / "dump");
    const TensorMap activations = load_tensors(folder / "new" / "dump" / "activations.safetensors");
    ASSERT_THAT(activations, ElementsAre(Key("fc.output")));
    EXPECT_EQ(activations.at("fc.output").dtype(), DType::f16);
    EXPECT_THAT(activations.at("fc.output").values(), ElementsAre(0.5, 0x1p-24));
    EXPECT_EQ(load_tensors(folder / "new" / "dump" / "updates.safetensors").size(), 1u);
    EXPECT_TRUE(load_tensors(folder / "new" / "dump" / "weights.safetensors").empty());
    EXPECT_TRUE(load_tensors(folder / "new" / "dump" / "gradients.safetensors").empty());
}

TEST(CountedTensors, NamesAFolderThatCannotBeMade) {
    const TempFolder folder;
    CountedTensors tensors;
    tensors.write(folder / "dump");
    EXPECT_THROW(tensors.write(folder / "dump" / "weights.safetensors" / "inner"), Error);
}

}  // namespace
}  // namespace engine
