#include "models/op_memory.h"

#include <map>

#include "ops/attention/attention.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/index/gather.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/similarity.h"
#include "ops/loss/cross_entropy.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/unary.h"
#include "ops/pool/pool.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/vision/upsample.h"

namespace engine::network {

Reads read_by_gradient(const Op& op) {
    static const std::map<const Op*, Reads> all = {
        {&linear_op, Reads::input}, {&conv1d_op, Reads::input}, {&conv2d_op, Reads::input}, {&conv3d_op, Reads::input},
        {&conv_transpose1d_op, Reads::input}, {&conv_transpose2d_op, Reads::input}, {&conv_transpose3d_op, Reads::input},
        {&batch_norm_op, Reads::input}, {&batch_norm_relu_op, Reads::input_and_result}, {&instance_norm_op, Reads::input},
        {&layer_norm_op, Reads::input}, {&rms_norm_op, Reads::input}, {&group_norm_op, Reads::input},
        {&relu_op, Reads::result}, {&relu6_op, Reads::result}, {&tanh_op, Reads::result}, {&sigmoid_op, Reads::result},
        {&gelu_op, Reads::input}, {&silu_op, Reads::input}, {&leaky_relu_op, Reads::input}, {&elu_op, Reads::input},
        {&selu_op, Reads::input}, {&celu_op, Reads::input}, {&hardswish_op, Reads::input}, {&hardsigmoid_op, Reads::input},
        {&mish_op, Reads::input}, {&softplus_op, Reads::input}, {&softsign_op, Reads::input}, {&log_sigmoid_op, Reads::input},
        {&softmax_op, Reads::result}, {&log_softmax_op, Reads::result}, {&mul_op, Reads::factors},
        {&matmul_op, Reads::factors}, {&div_op, Reads::inputs}, {&maximum_op, Reads::inputs}, {&minimum_op, Reads::inputs},
        {&abs_op, Reads::input}, {&square_op, Reads::input}, {&sqrt_op, Reads::result}, {&exp_op, Reads::result},
        {&log_op, Reads::input}, {&clamp_op, Reads::input}, {&amax_op, Reads::input_and_result}, {&normalize_op, Reads::wide},
        {&cosine_similarity_op, Reads::wide_inputs}, {&lp_pool1d_op, Reads::wide}, {&lp_pool2d_op, Reads::wide}, {&lp_pool3d_op, Reads::wide},
        {&scaled_dot_product_attention_op, Reads::inputs}, {&cross_entropy_op, Reads::input}};
    const auto found = all.find(&op);
    return found == all.end() ? Reads::nothing : found->second;
}

Scratch gradient_scratch(const Op& op) {
    static const std::map<const Op*, Scratch> all = {
        {&silu_op, {24, 16}}, {&elu_op, {18.7, 9}}, {&selu_op, {18.7, 9}}, {&celu_op, {18.7, 9}},
        {&hardswish_op, {14, 5}}, {&hardsigmoid_op, {14, 1.4}}, {&mish_op, {28, 20}}, {&softplus_op, {19.7, 19.4}},
        {&softsign_op, {20, 12}}, {&log_sigmoid_op, {21.7, 11.4}}, {&abs_op, {2, 4}}, {&prelu_op, {13.7, 8}},
        {&lp_pool1d_op, {9, 7}}, {&lp_pool2d_op, {9, 7}}, {&lp_pool3d_op, {9, 7}},
        {&upsample_bilinear2d_op, {58.8, 53.5}}, {&upsample_bicubic2d_op, {58.8, 53.5}}, {&mean_op, {2, 4}},
        {&sum_op, {4, 4}}, {&amax_op, {15, 12.5}}, {&clamp_op, {5.7, 1}}, {&div_op, {4, 8}}, {&maximum_op, {7, 11}},
        {&minimum_op, {7, 11}}, {&cosine_similarity_op, {15, 11.5}}, {&normalize_op, {14, 12}}, {&where_op, {5, 9}},
        {&sqrt_op, {2, 4}}, {&group_norm_op, {0, 4}}, {&max_pool3d_op, {7.4, 2.8}},
        {&adaptive_max_pool3d_op, {7.4, 2.8}}, {&index_select_op, {0, 2.1}}, {&avg_pool3d_op, {8.3, 3.7}},
        {&adaptive_avg_pool3d_op, {8.1, 4.4}}, {&max_pool1d_op, {1, 2}}, {&avg_pool1d_op, {1, 2}},
        {&adaptive_avg_pool1d_op, {2, 0}}, {&adaptive_max_pool1d_op, {2, 0}}, {&scaled_dot_product_attention_op, {4, 8}}};
    const auto found = all.find(&op);
    return found == all.end() ? Scratch{} : found->second;
}

}  // namespace engine::network
