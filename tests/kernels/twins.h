#pragma once

#include <memory>
#include <string>

#include "kernels/device_array.h"

/// Shared by the tests of CUDA twins: awkward values, misaligned arrays, bitwise comparison.
namespace kernels::test {

inline const std::vector<DType> every_dtype = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                               DType::i64, DType::i32, DType::u8,  DType::boolean};

/// More than one grid of the simulated device covers, with the widest packs.
constexpr std::int64_t beyond_a_grid = 70'001;
inline const std::vector<std::int64_t> awkward_sizes = {0, 1, 3, 31, 64, 1000, 5003};

/// Random numbers with some zeros, subnormals, infinities and NaN; integers include the limits of
/// their type.
inline Buffer awkward_buffer(DType dtype, std::int64_t size, unsigned seed) {
    Buffer x(dtype, size);
    std::mt19937_64 engine(seed);
    if (is_floating(dtype)) {
        std::normal_distribution<double> normal(0, 3);
        for (std::int64_t i = 0; i < size; ++i) x.set(i, normal(engine));
        const double special[] = {0.0,      -0.0,     inf,    -inf,    static_cast<double>(nan),
                                  0x1p-140, -0x1p-24, 65504,  -65520,  0x1p-1060,
                                  3e38,     -1e300,   0x1p62, -0x1p63, 0.5};
        for (std::int64_t i = 0; i < size; ++i)
            if (engine() % 8 == 0) x.set(i, special[engine() % std::size(special)]);
        return x;
    }
    auto* bytes = x.as<unsigned char>();
    for (std::size_t i = 0; i < x.bytes().size(); ++i)
        bytes[i] = static_cast<unsigned char>(engine() % 3 == 0 ? 0 : engine());
    return x;
}

/// The array without its first `skip` elements, for starts that are not aligned for wide accesses.
inline Array from(Array x, std::int64_t skip) {
    if (x.size <= skip) return {x.data, x.dtype, 0};
    auto* first = static_cast<char*>(x.data) + static_cast<std::size_t>(skip) * size_of(x.dtype);
    return {first, x.dtype, x.size - skip};
}

/// Whether every element has the same bits. All NaNs count as equal, since devices do not keep the
/// payload.
inline ::testing::AssertionResult same(const Buffer& actual, const Buffer& expected) {
    const std::size_t width = size_of(expected.dtype());
    for (std::int64_t i = 0; i < expected.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * width;
        if (std::memcmp(&actual.bytes()[at], &expected.bytes()[at], width) == 0) continue;
        if (is_floating(expected.dtype()) && std::isnan(expected.get(i)) &&
            std::isnan(actual.get(i)))
            continue;
        return ::testing::AssertionFailure()
               << "element " << i << ": got " << actual.get(i) << ", expected " << expected.get(i);
    }
    return ::testing::AssertionSuccess();
}

/// Filled with 0xff like a DeviceBuffer.
inline Buffer poisoned(DType dtype, std::int64_t size) {
    Buffer x(dtype, size);
    std::fill_n(x.as<unsigned char>(), x.bytes().size(), static_cast<unsigned char>(0xff));
    return x;
}

struct Results {
    Buffer cpu, cuda;
};

/// The outputs of both twins, `size` elements of type `to`: call(twin, y, inputs). All arrays start
/// `skip` elements into their memory, except inputs of one element.
template <typename F, typename Call>
Results run_twins(F* on_cpu, F* on_cuda, DType to, std::int64_t size,
                  const std::vector<Buffer>& inputs, std::int64_t skip, const Call& call) {
    const auto part = [skip](Array whole) { return whole.size == 1 ? whole : from(whole, skip); };
    Buffer expected = poisoned(to, size + skip);
    std::vector<Buffer> copies = inputs;
    std::vector<ConstArray> arguments;
    for (Buffer& copy : copies) arguments.push_back(part(copy));
    call(on_cpu, from(expected, skip), arguments);

    const DeviceBuffer result(to, size + skip);
    std::vector<std::unique_ptr<DeviceBuffer>> held;
    arguments.clear();
    for (const Buffer& input : inputs) {
        held.push_back(std::make_unique<DeviceBuffer>(input));
        arguments.push_back(part(*held.back()));
    }
    call(on_cuda, from(result, skip), arguments);
    return {expected, result.host()};
}

}  // namespace kernels::test
