#include "nn/layers.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

/// Numbers of the seed's stream by their places, also of a count that is no multiple of four.
TEST(TensorRegistry, DrawsEachElementFromItsOwnPlace) {
    TensorRegistry registry(11, Device{});
    for (const std::int64_t count : {1, 4, 7, 22}) {
        const auto substream = static_cast<std::uint32_t>(registry.parameters.size());
        const auto normal = registry.normal("normal", {count}, 0.3, false).values();
        const auto uniform = registry.uniform("uniform", {count}, 0.3, false).values();
        const RandomStream first(11, StreamId::init, substream),
            second(11, StreamId::init, substream + 1);
        for (std::size_t i = 0; i < normal.size(); ++i) {
            EXPECT_EQ(normal[i], static_cast<float>(static_cast<double>(first.normal(i)) * 0.3));
            EXPECT_EQ(uniform[i],
                      static_cast<float>((2 * static_cast<double>(second.uniform(i)) - 1) * 0.3));
        }
    }
}

}  // namespace
}  // namespace engine
