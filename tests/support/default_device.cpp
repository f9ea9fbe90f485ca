#include <gtest/gtest.h>

#include <cstdlib>

#include "tensor/device.h"

namespace engine {
namespace {

/// Tests run on the CPU, or on the device in HALFTONE_TEST_DEVICE ("cuda").
class DefaultDevice : public testing::Environment {
public:
    void SetUp() override {
        if (const char* name = std::getenv("HALFTONE_TEST_DEVICE"))
            set_default_device(resolve_device(name));
    }
};

const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new DefaultDevice);

}  // namespace
}  // namespace engine
