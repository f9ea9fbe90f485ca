#include "op_samples.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/rearrange.h"
#include "ops/vision/grid_sample.h"
#include "ops/vision/pad.h"
#include "ops/vision/upsample.h"

namespace engine {
namespace {

using In = const TensorList&;
using Add = std::function<void(const char*, const char*, Function, std::vector<Shape>)>;

void add_pads(const Add& add) {
    add("constant_pad_nd", "cut",
        [](In x) {
            return constant_pad(x[0], {1, -1, 2, 0}, 0.5);
        },
        {{2, 3, 4}});
    add("pad", "circular",
        [](In x) {
            return pad(x[0], {2, 1, 1, 2}, "circular");
        },
        {{1, 2, 3, 3}});
    add("pad", "constant", [](In x) { return pad(x[0], {1, 2}); }, {{3}});
    const struct {
        const char* name;
        PadMode mode;
        std::vector<std::int64_t> padding;
        Shape shape;
    } all[] = {{"reflection_pad1d", PadMode::reflect, {2, 1}, {2, 2, 4}},
               {"reflection_pad2d", PadMode::reflect, {2, 1, 0, 2}, {2, 3, 3}},
               {"reflection_pad3d", PadMode::reflect, {1, 1, 0, 1, 1, 0}, {1, 2, 2, 2}},
               {"replication_pad1d", PadMode::replicate, {2, 5}, {2, 3}},
               {"replication_pad2d", PadMode::replicate, {2, -1, 1, 2}, {1, 2, 3, 3}},
               {"replication_pad3d", PadMode::replicate, {1, 1, 0, 1, 1, 0}, {1, 2, 2, 2}}};
    for (const auto& one : all) {
        add(one.name, "plain", [one](In x) { return pad_from_inside(x[0], one.padding, one.mode); },
            {one.shape});
    }
}

Shape image(int dims) {
    Shape shape{1, 2};
    for (int i = 0; i < dims; ++i) shape.push_back(3 - i % 2);
    return shape;
}
std::vector<std::int64_t> sizes(int dims, std::int64_t first) {
    std::vector<std::int64_t> out;
    for (int i = 0; i < dims; ++i) out.push_back(first - i);
    return out;
}

void add_upsampling(const Add& add) {
    const struct {
        const char* name;
        UpsampleMode mode;
        int dims;
    } all[] = {{"upsample_nearest1d", UpsampleMode::nearest, 1},
               {"upsample_nearest2d", UpsampleMode::nearest, 2},
               {"upsample_nearest3d", UpsampleMode::nearest, 3},
               {"_upsample_nearest_exact1d", UpsampleMode::nearest_exact, 1},
               {"_upsample_nearest_exact2d", UpsampleMode::nearest_exact, 2},
               {"_upsample_nearest_exact3d", UpsampleMode::nearest_exact, 3},
               {"upsample_linear1d", UpsampleMode::linear, 1},
               {"upsample_bilinear2d", UpsampleMode::linear, 2},
               {"upsample_trilinear3d", UpsampleMode::linear, 3},
               {"upsample_bicubic2d", UpsampleMode::cubic, 2},
               {"_upsample_bilinear2d_aa", UpsampleMode::linear_aa, 2},
               {"_upsample_bicubic2d_aa", UpsampleMode::cubic_aa, 2}};
    for (const auto& one : all) {
        add(one.name, "larger",
            [one](In x) {
                return upsample(one.mode, x[0], {sizes(one.dims, 5), {}});
            },
            {image(one.dims)});
        add(one.name, "corners",
            [one](In x) {
                return upsample(one.mode, x[0],
                                {{}, std::vector<double>(static_cast<std::size_t>(one.dims), 0.7)},
                                true);
            },
            {image(one.dims)});
    }
    add("interpolate", "bilinear",
        [](In x) {
            return interpolate(x[0], {{4}, {}}, {.mode = "bilinear"});
        },
        {{1, 2, 3, 2}});
}

void add_grids(const Add& add) {
    for (const auto& [mode, name] : {std::pair{GridMode::bilinear, "bilinear"},
                                     {GridMode::nearest, "nearest"},
                                     {GridMode::bicubic, "bicubic"}}) {
        // Places between elements, inside the image. The factor causes no rounding in any type.
        add("grid_sampler", name,
            [mode = mode](In x) { return grid_sample(x[0], mul(x[1], 0.5), mode); },
            {{1, 2, 4, 5}, {1, 2, 3, 2}});
    }
    for (const auto& [padding, name] :
         {std::pair{GridPadding::border, "border"}, {GridPadding::reflection, "reflection"}}) {
        add("grid_sample", name,
            [padding = padding](In x) {
                return grid_sample(x[0], x[1], GridMode::bilinear, padding, true);
            },
            {{2, 2, 3, 4}, {2, 1, 3, 2}});
    }
    for (const auto& [padding, name] : {std::pair{GridPadding::border, "bicubicBorder"},
                                        {GridPadding::reflection, "bicubicReflection"}}) {
        add("grid_sample", name,
            [padding = padding](In x) {
                return grid_sample(x[0], x[1], GridMode::bicubic, padding);
            },
            {{1, 2, 3, 4}, {1, 2, 2, 2}});
    }
    add("grid_sample", "volume",
        [](In x) { return grid_sample(x[0], mul(x[1], 0.25), GridMode::bilinear); },
        {{1, 2, 2, 3, 3}, {1, 2, 1, 2, 3}});
}

}  // namespace

void add_sampling_samples(std::vector<OpSample>& out) {
    // Squares, so that the second derivative is not zero.
    const auto add = [&](const char* op, const char* label, Function f, std::vector<Shape> shapes) {
        out.push_back({op,
                       label,
                       [f = std::move(f)](In x) {
                           const Tensor y = f(x);
                           return mul(y, y);
                       },
                       std::move(shapes),
                       -2,
                       2,
                       {},
                       32});
    };
    add_pads(add);
    add_upsampling(add);
    add_grids(add);
    add("pixel_shuffle", "two", [](In x) { return pixel_shuffle(x[0], 2); }, {{1, 4, 2, 2}});
    add("pixel_unshuffle", "two", [](In x) { return pixel_unshuffle(x[0], 2); }, {{1, 2, 4}});
    add("channel_shuffle", "two", [](In x) { return channel_shuffle(x[0], 2); }, {{1, 4, 2}});
}

}  // namespace engine
