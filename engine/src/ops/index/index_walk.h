#pragma once

#include "kernels/index.h"
#include "tensor/tape.h"

// Rows and elements by index, outside the tape. Indices are those of `checked_index`.
namespace engine {

/// `index` as a dense row-major i64 tensor with all values in [0, bound). Throws Error(dtype)
/// unless it is i64 or i32. An out-of-range index is Error(value) with the op's name, the index and
/// the bound, on a GPU at the next read (tensor/check_values.h), where the element read is NaN.
Tensor checked_index(const Op& info, const Tensor& index, std::int64_t bound);

/// Rows of dimension `dim` of x by a 1-d index, -1 giving a row of zeros if `holes`. Keeps x's
/// layout.
Tensor select_rows(const Tensor& x, int dim, const Tensor& index, bool holes = false);
/// y[.., i, ..] = x[.., index[.., i, ..], ..]; sizes of x and index equal but for `dim`.
Tensor select_elements(const Tensor& x, int dim, const Tensor& index);

struct FoldOptions {
    kernels::IndexFold fold = kernels::IndexFold::sum;
    bool with_base = true;
    bool holes = false;
    bool in_place = false;  ///< the result is base, which is dense and nobody else's
};
/// base with each row of `source` folded into the row of dimension `dim` that a 1-d index names.
/// Equal types.
Tensor fold_rows(const Tensor& base, int dim, const Tensor& index, const Tensor& source,
                 const FoldOptions& options = {});
/// Folds single elements instead of rows; index and source of one shape, sizes of base at least as
/// large but for `dim`.
Tensor fold_elements(const Tensor& base, int dim, const Tensor& index, const Tensor& source,
                     const FoldOptions& options = {});

}  // namespace engine
