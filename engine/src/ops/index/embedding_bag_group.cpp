#include "ops/index/embedding_bag_group.h"

#include <algorithm>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/embedding_bag.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/index/index_walk.h"
#include "ops/index/sparse.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr Op embedding_bag_group_op("embedding_bag_group(first, ids, tables; sparse)",
    "Rows of several tables and what stands before them, joined, as one node of the tape.");

/// Values that the gradient needs beside the saved tensors.
struct GroupCall {
    kernels::BagGroup group;
    std::vector<Shape> tables;
    bool sparse;
};

/// The ids by table, (tables, B) i64, checked against the rows of each.
Tensor ids_by_table(const Tensor& ids, const TensorList& tables) {
    const GradMode off(false);
    std::int64_t most = 0;
    for (const Tensor& table : tables) most = std::max(most, table.size(0));
    const Tensor all = checked_index(embedding_bag_op, transpose(ids, 0, 1), most);
    for (std::size_t t = 0; t < tables.size(); ++t) {
        if (tables[t].size(0) == most) continue;
        const Tensor own = narrow(all, 0, static_cast<std::int64_t>(t), 1);
        check_index_values(embedding_bag_op, own, 0, tables[t].size(0));
    }
    return all;
}

/// Vector i of each sample, (B, width).
Tensor vectors_at(const Tensor& all, std::size_t i, const kernels::BagGroup& group) {
    return reshape(narrow(all, 1, static_cast<std::int64_t>(i), 1), {group.bags, group.width});
}
Tensor ids_of(const Tensor& by_table, std::size_t t, const kernels::BagGroup& group) {
    return reshape(narrow(by_table, 0, static_cast<std::int64_t>(t), 1), {group.bags});
}

void add_sparse_gradients(TensorList& grads, const Tensor& dy, const Tensor& ids,
                          const GroupCall& call) {
    const auto& group = call.group;
    TensorList rows;  // of each table in memory of its own, which its gradient may keep
    std::vector<kernels::Array> arrays;
    for (std::size_t t = 0; t < call.tables.size(); ++t) {
        rows.push_back(Tensor::empty({group.bags, group.width}, dy.dtype(), dy.device()));
        arrays.push_back(rows.back().array());
    }
    const Tensor whole = in_layout(dy.detach(), Layout::contiguous);
    on(dy.device(), kernels::cpu::split_bag_group, kernels::cuda::split_bag_group)(
        arrays, whole.array(), group, current_stream());
    for (std::size_t t = 0; t < rows.size(); ++t)
        grads[t + 1] = sparse_rows(ids_of(ids, t, group), rows[t], call.tables[t]);
}

TensorList group_gradients(const Tensor& dy, const Saved& saved, const GroupCall& call) {
    TensorList grads(call.tables.size() + 1);
    if (saved.needs_gradient(0)) grads[0] = vectors_at(dy, 0, call.group);
    if (!call.sparse) {
        for (std::size_t t = 0; t < call.tables.size(); ++t) {
            if (saved.needs_gradient(static_cast<int>(t) + 1))
                grads[t + 1] = rows_added(vectors_at(dy, t + 1, call.group), call.tables[t], 0,
                                          ids_of(saved[0], t, call.group));
        }
        return grads;
    }
    if (grad_enabled()) {
        throw Error(ErrorCode::state, "embedding_bag: a sparse gradient has no gradient of its own",
                    "Use sparse = false where a second derivative is wanted.");
    }
    add_sparse_gradients(grads, dy, saved[0], call);
    return grads;
}

}  // namespace

bool can_group_bags(const Tensor& first, const TensorList& tables) {
    if (types_are_forced() || tables.empty() || first.rank() != 2) return false;
    const DType dtype = tables.front().dtype();
    return is_floating(dtype) && promote(first.dtype(), dtype) == dtype &&
           std::ranges::all_of(tables, [&](const Tensor& table) {
               return table.rank() == 2 && table.size(1) == first.size(1) &&
                      table.dtype() == dtype && table.device() == first.device() &&
                      table.is_contiguous();
           });
}

Tensor embedding_bag_group(const Tensor& first, const Tensor& ids, const TensorList& tables,
                           bool sparse) {
    GroupCall call{{}, {}, sparse};
    const auto count = static_cast<std::int64_t>(tables.size());
    if (ids.rank() != 2 || ids.size(0) != first.size(0) || ids.size(1) != count) {
        throw Error(ErrorCode::shape, "embedding_bag: ids " + to_string(ids.shape()) + " for " +
                                          std::to_string(count) + " tables and " +
                                          to_string(first.shape()));
    }
    call.group = {first.size(0), count + 1, 1, first.size(1)};
    const Tensor by_table = ids_by_table(ids, tables);
    const DType dtype = tables.front().dtype();
    const Tensor y = Tensor::empty({call.group.bags, call.group.across, call.group.width}, dtype,
                                   first.device());
    std::vector<kernels::ConstArray> arrays;
    for (const Tensor& table : tables) {
        arrays.emplace_back(table.array());
        call.tables.push_back(table.shape());
    }
    {
        const GradMode off(false);
        copy_into(vectors_at(y, 0, call.group), to(first.detach(), dtype));
    }
    on(first.device(), kernels::cpu::embedding_bag_group, kernels::cuda::embedding_bag_group)(
        y.array(), arrays, by_table.array(), call.group, current_stream());
    TensorList inputs{first};
    inputs.insert(inputs.end(), tables.begin(), tables.end());
    return record_many(embedding_bag_group_op, inputs, y, {save(by_table)},
                       [call](std::span<const Tensor> dy, const Saved& saved) {
                           return group_gradients(dy[0], saved, call);
                       });
}

}  // namespace engine
