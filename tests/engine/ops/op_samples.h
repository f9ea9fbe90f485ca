#pragma once

#include <ostream>
#include <vector>

#include "gradcheck.h"

namespace engine {

/// A call of an op with small random arguments, for the tests that hold for every op.
struct OpSample {
    const char* op;     // name of the op in the catalog
    const char* label;  // name of the sample: letters and digits
    Function call;
    std::vector<Shape> shapes;
    double low = -2, high = 2;    // range of the values
    std::vector<int> fixed = {};  // indices of the arguments without a gradient
    double sum_length = 1;        // terms in the longest sum of a result
};
std::vector<OpSample> op_samples();
/// Add the samples of one family; each is in op_samples_NAME.cpp.
void add_indexing_samples(std::vector<OpSample>& out);
void add_sampling_samples(std::vector<OpSample>& out);
/// Families with files of their own.
void add_norms_samples(std::vector<OpSample>& out);
void add_convolutions_samples(std::vector<OpSample>& out);
void add_pooling_samples(std::vector<OpSample>& out);
void add_products_samples(std::vector<OpSample>& out);
void add_reductions_samples(std::vector<OpSample>& out);
void add_distances_samples(std::vector<OpSample>& out);
void add_recurrent_samples(std::vector<OpSample>& out);
void add_attention_samples(std::vector<OpSample>& out);
void add_pointwise_samples(std::vector<OpSample>& out);
void add_losses_samples(std::vector<OpSample>& out);
/// The sample's arguments: leaves that require gradients, except those in `fixed`.
TensorList arguments(const OpSample& sample, DType dtype, bool requires_grad = true);
inline void PrintTo(const OpSample& sample, std::ostream* out) {
    *out << sample.op << " " << sample.label;
}

}  // namespace engine
