#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo flip_info, roll_info, repeat_info, repeat_interleave_info;

// Copies with elements elsewhere; any type.

/// With the order of these dimensions reversed.
Tensor flip(const Tensor& x, const std::vector<std::int64_t>& dims);
/// Element i of dimension dims[k] goes to i + shifts[k], those beyond the end to the start. Without
/// dims the tensor is rolled as one row.
Tensor roll(const Tensor& x, const std::vector<std::int64_t>& shifts,
            const std::vector<std::int64_t>& dims = {});
/// repeats[k] copies along dimension k; with more repeats than dimensions those of x stand last.
Tensor repeat(const Tensor& x, const std::vector<std::int64_t>& repeats);
/// Each element of a dimension (none: of the whole as one row) `repeats` times in a row.
Tensor repeat_interleave(const Tensor& x, std::int64_t repeats,
                         std::optional<std::int64_t> dim = {});

}  // namespace engine
