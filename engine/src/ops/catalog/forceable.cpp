#include "ops/catalog/forceable.h"

#include <algorithm>
#include <string_view>

namespace engine {
namespace {

constexpr std::string_view not_forceable[] = {"all",
                                              "any",
                                              "argmax",
                                              "argmin",
                                              "argsort",
                                              "cat",
                                              "channel_shuffle",
                                              "chunk",
                                              "constant_pad_nd",
                                              "contiguous",
                                              "count_nonzero",
                                              "ctc_loss",
                                              "eq",
                                              "expand",
                                              "flatten",
                                              "flip",
                                              "gather",
                                              "ge",
                                              "grid_sampler",
                                              "gt",
                                              "im2col",
                                              "index",
                                              "index_copy",
                                              "index_put",
                                              "index_select",
                                              "isfinite",
                                              "isinf",
                                              "isnan",
                                              "le",
                                              "logical_and",
                                              "logical_not",
                                              "logical_or",
                                              "logical_xor",
                                              "lt",
                                              "masked_fill",
                                              "masked_scatter",
                                              "max_unpool2d",
                                              "max_unpool3d",
                                              "narrow",
                                              "ne",
                                              "pad",
                                              "permute",
                                              "pixel_shuffle",
                                              "pixel_unshuffle",
                                              "rdiv",
                                              "reflection_pad1d",
                                              "reflection_pad2d",
                                              "reflection_pad3d",
                                              "repeat",
                                              "repeat_interleave",
                                              "replication_pad1d",
                                              "replication_pad2d",
                                              "replication_pad3d",
                                              "reshape",
                                              "roll",
                                              "rpow",
                                              "rtruediv",
                                              "scatter",
                                              "scatter_reduce",
                                              "select",
                                              "slice",
                                              "sort",
                                              "split",
                                              "squeeze",
                                              "stack",
                                              "take_along_dim",
                                              "to",
                                              "topk",
                                              "transpose",
                                              "tril",
                                              "triu",
                                              "unbind",
                                              "unsqueeze",
                                              "where"};
static_assert(std::ranges::is_sorted(not_forceable));

}  // namespace

bool is_forceable(const OpInfo& info) {
    const std::string_view name = info.name;
    return !name.ends_with('_') && !std::ranges::binary_search(not_forceable, name);
}

}  // namespace engine
