#include "train/run/run_needs.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "models/model.h"
#include "models/network_model.h"
#include "tensor/memory/memory.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

/// Whether the model is refused on a processor of so much memory.
bool is_refused(const RunConfig& config, const ModelShape& shape, double bytes) {
    release_cached_memory();
    const std::size_t before = set_memory_limit(static_cast<std::size_t>(bytes));
    bool refused = false;
    try {
        check_model_fits(config, shape, Device{});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::memory);
        refused = true;
    }
    set_memory_limit(before);
    return refused;
}

TEST(RunNeeds, BuffersOfABuiltInModelCountToo) {
    RunConfig config;
    config.model.kind = "resnet18";
    config.optimizer.kind = "adam";
    const FieldSpec image{.name = "image", .kind = FieldKind::image, .shape = {3, 32, 32}};
    const ModelShape shape{{image}, 10};
    // Mean and variance of 4,800 channels, and the count of batches of 20 norms.
    const double buffers = count_fixed_numbers(config.model, shape);
    EXPECT_EQ(buffers, 2 * 4800 + 20);
    const double each = 2 * 4 + static_cast<double>(optimizer_state_bytes(
                                    config.optimizer, resolve(config.precision)));
    const double parameters = each * static_cast<double>(count_parameters(config.model, shape));
    EXPECT_TRUE(is_refused(config, shape, parameters));
    EXPECT_TRUE(is_refused(config, shape, parameters + 4 * buffers - 1));
    EXPECT_FALSE(is_refused(config, shape, parameters + 4 * buffers));
}

TEST(RunNeeds, AModelWithoutBuffersNeedsItsParametersAlone) {
    RunConfig config;
    config.model.kind = "mlp";
    const FieldSpec features{.name = "features", .kind = FieldKind::features, .shape = {64}};
    EXPECT_EQ(count_fixed_numbers(config.model, {{features}, 10}), 0);
}

}  // namespace
}  // namespace engine
