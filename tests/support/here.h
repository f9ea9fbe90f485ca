#pragma once

#include "core/device.h"

namespace engine {

/// The kind of device that the tests of this program run on.
struct Here {
    operator Device::Kind() const { return default_device().kind; }  // NOLINT
};
constexpr Here here;
/// The other one.
struct Elsewhere {
    operator Device::Kind() const {  // NOLINT(google-explicit-constructor)
        return default_device().kind == Device::Kind::cpu ? Device::Kind::cuda : Device::Kind::cpu;
    }
};
constexpr Elsewhere elsewhere;

}  // namespace engine
