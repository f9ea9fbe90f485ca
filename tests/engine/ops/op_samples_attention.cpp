#include "op_samples.h"
#include "ops/attention/attention.h"
#include "ops/pointwise/compare.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor attend(In x, const Tensor& mask, const AttentionOptions& options) {
    return scaled_dot_product_attention(x[0], x[1], x[2], mask, options);
}

/// Hides every third key, and from the first row all keys.
Tensor bool_mask(std::int64_t rows, std::int64_t cols) {
    std::vector<double> seen;
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) seen.push_back(r > 0 && (r + c) % 3 != 0 ? 1 : 0);
    return greater(Tensor::of(seen, {rows, cols}), Tensor::scalar(0, DType::f32));
}

}  // namespace

void add_attention_samples(std::vector<OpSample>& out) {
    const char *name = "scaled_dot_product_attention",
               *flash = "_scaled_dot_product_flash_attention";
    out.insert(
        out.end(),
        {{name, "plain", [](In x) { return attend(x, {}, {}); }, {{2, 3, 4}, {2, 5, 4}, {2, 5, 2}}},
         {name,
          "matrices",
          [](In x) { return attend(x, {}, {.scale = 0.7}); },
          {{3, 2}, {4, 2}, {4, 3}}},
         {name,
          "causal",
          [](In x) { return attend(x, {}, {.is_causal = true}); },
          {{4, 2}, {3, 2}, {3, 2}}},
         {name,
          "booleans",
          [](In x) { return attend(x, bool_mask(3, 4), {}); },
          {{2, 3, 2}, {2, 4, 2}, {2, 4, 2}}},
         {name,
          "added",
          [](In x) { return attend(x, x[3], {}); },
          {{1, 2, 3, 2}, {1, 2, 4, 2}, {1, 2, 4, 2}, {3, 4}}},
         {name,
          "groups",
          [](In x) { return attend(x, {}, {.enable_gqa = true}); },
          {{1, 4, 2, 3}, {1, 2, 3, 3}, {1, 2, 3, 1}}},
         {name,
          "broadcast",
          [](In x) { return attend(x, {}, {}); },
          {{2, 1, 2, 2}, {3, 3, 2}, {3, 2}}},
         {flash,
          "plain",
          [](In x) {
              return scaled_dot_product_flash_attention(x[0], x[1], x[2], {.scale = 0.7})[0];
          },
          {{2, 2, 3, 2}, {2, 2, 4, 2}, {2, 2, 4, 2}}},
         {flash,
          "causal",
          [](In x) {
              return scaled_dot_product_flash_attention(x[0], x[1], x[2], {.is_causal = true})[0];
          },
          {{1, 2, 3, 3}, {1, 2, 3, 3}, {1, 2, 3, 3}}}});
}

}  // namespace engine
