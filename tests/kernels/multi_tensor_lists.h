#pragma once

#include <memory>
#include <vector>

#include "kernels/device_array.h"
#include "kernels/support.h"

namespace kernels::test {

// X8: the sizes, lists and values of the catalogue.
inline const std::vector<std::int64_t> x8_sizes = {777, 555, 65537, 1};

struct X8List {
    X8List(DType type, double value, int repeats) {
        for (int r = 0; r < repeats; ++r)
            for (const std::int64_t size : x8_sizes)
                buffers.emplace_back(type,
                                     std::vector<double>(static_cast<std::size_t>(size), value));
    }
    std::vector<Array> arrays() { return {buffers.begin(), buffers.end()}; }
    std::vector<ConstArray> views() { return {buffers.begin(), buffers.end()}; }
    std::vector<Buffer> buffers;
};

inline bool all_are(const Buffer& buffer, double value) {
    for (std::int64_t i = 0; i < buffer.size(); ++i)
        if (buffer.get(i) != value) return false;
    return true;
}

/// Buffers on the device, in the form of lists.
struct DeviceList {
    explicit DeviceList(const std::vector<Buffer>& from) {
        for (const Buffer& b : from) buffers.push_back(std::make_unique<DeviceBuffer>(b));
    }
    std::vector<Array> arrays() const {
        std::vector<Array> out;
        for (const auto& b : buffers) out.push_back(b->array());
        return out;
    }
    std::vector<ConstArray> views() const {
        const auto all = arrays();
        return {all.begin(), all.end()};
    }
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
};

inline std::vector<Buffer> random_list(DType type, int repeats) {
    std::vector<Buffer> out;
    unsigned seed = 1;
    for (int r = 0; r < repeats; ++r)
        for (const std::int64_t size : {777, 555, 9001, 1, 0})
            out.push_back(random_buffer(type, size, seed++));
    return out;
}

}  // namespace kernels::test
