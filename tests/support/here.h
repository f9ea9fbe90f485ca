#pragma once

#include "tensor/device.h"

namespace engine {

/// The kind of device that the tests of this program run on.
struct Here {
    operator Device::Kind() const { return default_device().kind; }  // NOLINT
};
constexpr Here here;

}  // namespace engine
