#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace kernels {

/// A device call failed, or the device or a needed library is absent. what() names the call.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device has no memory left for `bytes` more.
class OutOfMemory : public DeviceError {
public:
    explicit OutOfMemory(std::size_t bytes_)
        : DeviceError("out of memory asking for " + std::to_string(bytes_) + " bytes"),
          bytes(bytes_) {}
    std::size_t bytes;
};

}  // namespace kernels

namespace kernels::cuda {

/// The error that ended a device, after which no call of this process can use a device. Empty if
/// there was none.
std::string lost_to();

}  // namespace kernels::cuda
