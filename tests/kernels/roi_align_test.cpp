#include "kernels/roi_align.h"

#include <memory>

#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// RoIs that lie in a picture of 60 x 70 pixels, over its edges, beyond it, inverted, of no
/// picture, huge, and with a NaN.
Buffer awkward_rois(DType dtype) {
    const double values[][5] = {{0, 3.3, 4.1, 40.7, 30.2},
                                {1, 3.3, 4.1, 40.7, 30.2},
                                {1, -20, -9, 22, 90},
                                {0, 10, 10, 10.2, 10.1},
                                {0, 30, 30, 5, 8},
                                {-1, 3, 4, 40, 30},
                                {2, 3, 4, 40, 30},
                                {1, 200, 300, 240, 350},
                                {1, -4e8, -3e8, 5e8, 6e8},
                                {0, inf, 0, 4, 4},
                                {0, 1, static_cast<double>(nan), 30, 30},
                                {static_cast<double>(nan), 1, 1, 9, 9},
                                {1, 3, 4, 40, 30}};
    std::vector<double> all;
    for (const auto& row : values) all.insert(all.end(), std::begin(row), std::end(row));
    return {dtype, all};
}

struct Problem {
    DType dtype;
    RoiAlignShape shape{};
    std::vector<RoiMap> maps;  // without data
    Buffer rois;

    Problem(DType type, std::int64_t ratio, bool aligned, bool levels)
        : dtype(type), rois(awkward_rois(type == DType::f64 ? type : DType::f32)) {
        shape = {.images = 2,
                 .channels = 67,
                 .rois = rois.size() / 5,
                 .out_h = 3,
                 .out_w = 2,
                 .sampling_ratio = ratio,
                 .aligned = aligned,
                 .canonical_size = levels ? 12.0 : 0};
        maps.push_back({nullptr, 15, 18, 0.25});
        if (levels) maps.insert(maps.end(), {{nullptr, 8, 9, 0.125}, {nullptr, 4, 5, 0.0625}});
    }
    std::int64_t size(const RoiMap& map) const {
        return shape.images * map.height * map.width * shape.channels;
    }
    std::int64_t results() const { return shape.rois * shape.out_h * shape.out_w * shape.channels; }
};

std::vector<Problem> problems() {
    std::vector<Problem> all;
    for (const DType dtype : floating)
        for (const std::int64_t ratio : {0, 2})
            all.emplace_back(dtype, ratio, dtype == DType::f32, ratio == 2);
    return all;
}

/// Arrays of a problem's maps on the host and on the device.
struct Maps {
    std::vector<Buffer> host;
    std::vector<std::unique_ptr<DeviceBuffer>> device;
    std::vector<RoiMap> on_cpu, on_cuda;

    Maps(const Problem& problem, bool drawn) {
        for (const RoiMap& map : problem.maps)
            host.push_back(drawn ? random_buffer(problem.dtype, problem.size(map),
                                                 static_cast<unsigned>(host.size()) + 3)
                                 : poisoned(problem.dtype, problem.size(map)));
        on_cpu = on_cuda = problem.maps;
        for (std::size_t i = 0; i < host.size(); ++i) {
            device.push_back(std::make_unique<DeviceBuffer>(host[i]));
            on_cpu[i].data = host[i].array().data;
            on_cuda[i].data = device[i]->array().data;
        }
    }
};

/// Expects the same bits, but in f64, where the compiler may join the CPU's products and sums: within a
/// rounding of each of `terms` terms, whose magnitudes sum to at most `sum`.
::testing::AssertionResult agree(const Buffer& actual, const Buffer& expected, double terms,
                                 double sum) {
    if (expected.dtype() != DType::f64) return same(actual, expected);
    for (std::int64_t i = 0; i < expected.size(); ++i)
        if (!(std::abs(actual.get(i) - expected.get(i)) <= terms * 0x1p-53 * sum))
            return ::testing::AssertionFailure() << "element " << i << ": got " << actual.get(i)
                                                 << ", expected " << expected.get(i);
    return ::testing::AssertionSuccess();
}
double largest(const Buffer& x) {
    double most = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x.get(i)));
    return most;
}

TEST(CudaRoiAlign, HasTheBitsOfTheCpu) {
    HALFTONE_NEEDS_CUDA();
    for (const Problem& each : problems())
        for (const bool contiguous : {false, true}) {
            RoiAlignShape shape = each.shape;
            shape.contiguous = contiguous;
            Maps maps(each, true);
            Buffer expected = poisoned(each.dtype, each.results());
            cpu::roi_align(expected, maps.on_cpu, each.rois, shape, {});
            const DeviceBuffer y(each.dtype, each.results()), rois(each.rois);
            cuda::roi_align(y, maps.on_cuda, rois, shape, {});
            double most = 0;
            for (const Buffer& map : maps.host) most = std::max(most, largest(map));
            // A bin reads each pixel of a map once at most, with weights that sum to 1.
            ASSERT_TRUE(agree(y.host(), expected, 15 * 18, most)) << static_cast<int>(each.dtype);
        }
}

TEST(CudaRoiAlignBackward, HasTheBitsOfTheCpuInEveryRun) {
    HALFTONE_NEEDS_CUDA();
    for (const Problem& each : problems()) {
        Buffer dy = random_buffer(each.dtype, each.results(), 9);
        const DeviceBuffer on_device(dy), rois(each.rois);
        Maps once(each, false), again(each, false);
        cpu::roi_align_backward(once.on_cpu, dy, each.rois, each.shape, {});
        cuda::roi_align_backward(once.on_cuda, on_device, rois, each.shape, {});
        cuda::roi_align_backward(again.on_cuda, on_device, rois, each.shape, {});
        // A term for each bin of each RoI at most, with weights of at most 1.
        const auto terms =
            static_cast<double>(each.shape.rois * each.shape.out_h * each.shape.out_w);
        for (std::size_t i = 0; i < once.host.size(); ++i) {
            const Buffer found = once.device[i]->host();
            ASSERT_TRUE(agree(found, once.host[i], terms, terms * largest(dy))) << i;
            ASSERT_TRUE(same(again.device[i]->host(), found)) << i;
        }
    }
}

TEST(CudaRoiAlignBackward, IsZeroWithoutRois) {
    HALFTONE_NEEDS_CUDA();
    Problem none(DType::f32, 2, false, true);
    none.shape.rois = 0;
    Maps maps(none, false);
    const Buffer empty(DType::f32, 0);
    const DeviceBuffer dy(empty), rois(empty);
    cuda::roi_align_backward(maps.on_cuda, dy, rois, none.shape, {});
    for (std::size_t i = 0; i < maps.host.size(); ++i)
        ASSERT_TRUE(same(maps.device[i]->host(), Buffer(DType::f32, maps.host[i].size())));
}

}  // namespace
}  // namespace kernels::test
