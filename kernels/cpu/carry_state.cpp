#include "kernels/carry_state.h"

#include <atomic>
#include <cassert>
#include <cmath>

#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// Calls f(to, value) for each value of the stream.
template <typename F>
void for_each_value(const CarriedTensor& tensor, std::int64_t streams, std::int64_t stream, F f) {
    with_type(tensor.from.dtype, [&]<typename T>(T) {
        const auto* from = static_cast<const T*>(tensor.from.data);
        for (std::int64_t layer = 0; layer < tensor.layers; ++layer) {
            const std::int64_t row = (layer * streams + stream) * tensor.width;
            for (std::int64_t i = row; i < row + tensor.width; ++i)
                f(tensor.to[i], static_cast<float>(widen(from[i])));
        }
    });
}

bool is_finite(std::span<const CarriedTensor> tensors, std::int64_t streams, std::int64_t stream) {
    bool finite = true;
    for (const CarriedTensor& tensor : tensors)
        for_each_value(tensor, streams, stream,
                       [&](float&, float value) { finite = finite && std::isfinite(value); });
    return finite;
}

}  // namespace

void carry_state(std::span<const CarriedTensor> tensors, std::int64_t streams, std::int64_t* resets,
                 Stream) {
    assert(tensors.size() <= CarriedTensor::most);
    std::atomic<std::int64_t> reset{0};
    parallel_for(streams, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t stream = begin; stream < end; ++stream) {
            const bool finite = is_finite(tensors, streams, stream);
            for (const CarriedTensor& tensor : tensors)
                for_each_value(tensor, streams, stream,
                               [&](float& to, float value) { to = finite ? value : 0; });
            if (!finite) ++reset;
        }
    });
    *resets += reset;
}

}  // namespace kernels::cpu
