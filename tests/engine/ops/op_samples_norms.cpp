#include "op_samples.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor running(std::int64_t channels, DType dtype, std::uint32_t seed) {
    return random_tensor({channels}, dtype, seed, 0.5, 2);
}

void add_row_norms(std::vector<OpSample>& out) {
    out.insert(out.end(),
               {{"layer_norm",
                 "affine",
                 [](In x) { return layer_norm(x[0], {5}, x[1], x[2]); },
                 {{2, 3, 5}, {5}, {5}}},
                {"layer_norm",
                 "plain",
                 [](In x) {
                     return layer_norm(x[0], {3, 5});
                 },
                 {{2, 3, 5}}},
                {"layer_norm",
                 "weight",
                 [](In x) {
                     return layer_norm(x[0], {2, 3}, x[1]);
                 },
                 {{4, 2, 3}, {2, 3}}},
                {"layer_norm",
                 "bias",
                 [](In x) { return layer_norm(x[0], {6}, {}, x[1], 0.1); },
                 {{6}, {6}}},
                {"layer_norm",
                 "biasofmatrix",
                 [](In x) {
                     return layer_norm(x[0], {2, 3}, {}, x[1]);
                 },
                 {{2, 2, 3}, {2, 3}}},
                {"native_layer_norm",
                 "affine",
                 [](In x) { return native_layer_norm(x[0], {5}, x[1], x[2], 1e-5)[0]; },
                 {{4, 5}, {5}, {5}}},
                {"rms_norm",
                 "weight",
                 [](In x) { return rms_norm(x[0], {5}, x[1], 1e-5); },
                 {{3, 5}, {5}}},
                {"rms_norm",
                 "plain",
                 [](In x) {
                     return rms_norm(x[0], {2, 3}, {}, 0.1);
                 },
                 {{3, 2, 3}}},
                {"group_norm",
                 "affine",
                 [](In x) { return group_norm(x[0], 2, x[1], x[2]); },
                 {{2, 4, 3}, {4}, {4}}},
                {"group_norm",
                 "image",
                 [](In x) { return group_norm(x[0], 3, {}, x[1], 0.1); },
                 {{2, 3, 2, 2}, {3}}},
                {"group_norm", "plain", [](In x) { return group_norm(x[0], 1); }, {{3, 4}}}});
}

void add_channel_norms(std::vector<OpSample>& out) {
    out.insert(out.end(),
               {{"instance_norm",
                 "affine",
                 [](In x) { return instance_norm(x[0], {}, {}, x[1], x[2], true); },
                 {{2, 3, 4}, {3}, {3}}},
                {"instance_norm",
                 "running",
                 [](In x) {
                     const DType dtype = x[0].dtype();
                     return instance_norm(x[0], running(3, dtype, 1), running(3, dtype, 2), x[1],
                                          {}, false);
                 },
                 {{2, 3, 2, 2}, {3}}},
                {"instance_norm",
                 "volume",
                 [](In x) { return instance_norm(x[0], {}, {}, {}, {}, true, 0.1, 0.1); },
                 {{1, 2, 2, 1, 3}}},
                {"batch_norm",
                 "sequence",
                 [](In x) { return batch_norm(x[0], x[1], x[2], {}, {}, true); },
                 {{2, 3, 4}, {3}, {3}}},
                {"batch_norm",
                 "volume",
                 [](In x) { return batch_norm(x[0], x[1], {}, {}, {}, true, 0.1, 0.1); },
                 {{2, 2, 2, 1, 3}, {2}}}});
}

}  // namespace

void add_norms_samples(std::vector<OpSample>& out) {
    add_row_norms(out);
    add_channel_norms(out);
}

}  // namespace engine
