#include "ops/detection/gather_anchors.h"

#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

void check_level(const Tensor& map, const Tensor& first, std::int64_t groups) {
    const Op& op = gather_anchors_op;
    check_rank(op, map, 4);
    one_type(op, {first, map});
    check_shapes(op,
                 map.size(0) == first.size(0) && map.size(1) == first.size(1) &&
                     map.size(1) % groups == 0,
                 map, first);
}

}  // namespace

Tensor gather_anchors(const TensorList& maps0, const Tensor& index0, std::int64_t groups) {
    return gather_anchors_op.call(
        maps0, index0, groups, [&](const TensorList& maps, const Tensor& asked) {
            if (maps.empty() || groups < 1)
                throw Error(ErrorCode::value,
                            "gather_anchors: there is no map to read, or no group");
            check_rank(gather_anchors_op, asked, 1);
            if (asked.dtype() != DType::i64)
                throw Error(ErrorCode::dtype, std::string("gather_anchors: the index is i64, not ") +
                                                  name(asked.dtype()));
            const std::int64_t images = maps[0].size(0), columns = maps[0].size(1) / groups;
            TensorList levels;
            for (const Tensor& map : maps) {
                check_level(map, maps[0], groups);
                levels.push_back(reshape(permute(map, {0, 2, 3, 1}),
                                         {images, map.size(2) * map.size(3) * groups, columns}));
            }
            const Tensor all = levels.size() == 1 ? levels[0] : cat(levels, 1);
            const std::int64_t rows = images * all.size(1);
            check_whole_values({"gather_anchors: anchor ",
                                " is outside the " + std::to_string(rows) + " of the maps"},
                               asked, -1, rows - 1);
            return rows_or_zeros(reshape(all, {rows, columns}), 0,
                                 in_layout(asked, Layout::contiguous));
        });
}

}  // namespace engine
