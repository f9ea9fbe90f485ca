#include "ops/catalog/catalog.h"

#include <algorithm>
#include <string_view>

#include "engine/settings/catalog.h"
#include "ops/attention/attention.h"
#include "ops/catalog/by_name.h"
#include "ops/conv/columns.h"
#include "ops/conv/convolution.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/index/index_put.h"
#include "ops/index/masked.h"
#include "ops/index/scatter.h"
#include "ops/linalg/distance.h"
#include "ops/linalg/einsum.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/matrix_norm.h"
#include "ops/linalg/norm.h"
#include "ops/linalg/products.h"
#include "ops/linalg/similarity.h"
#include "ops/linalg/tensor_products.h"
#include "ops/linalg/vector_products.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_ctc.h"
#include "ops/loss/loss_distance.h"
#include "ops/loss/loss_likelihood.h"
#include "ops/loss/loss_margin.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/dropout.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pointwise/reflected.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/pool/lp_pool.h"
#include "ops/pool/max_unpool.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_space.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/moments.h"
#include "ops/reduce/order.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "ops/vision/grid_sample.h"
#include "ops/vision/pad.h"
#include "ops/vision/upsample.h"
#include "tensor/cast.h"

namespace engine {
namespace {

const OpInfo* const infos[] = {
    // matrix products and convolution
    &mm_info, &bmm_info, &matmul_info, &addmm_info, &mv_info, &dot_info, &linear_info, &conv2d_info,
    // pooling
    &max_pool1d_info, &max_pool3d_info, &avg_pool1d_info, &avg_pool3d_info,
    &adaptive_avg_pool1d_info, &adaptive_avg_pool3d_info, &adaptive_max_pool1d_info,
    &adaptive_max_pool2d_info, &adaptive_max_pool3d_info, &lp_pool1d_info, &lp_pool2d_info,
    &lp_pool3d_info, &fractional_max_pool2d_info, &max_unpool2d_info, &max_unpool3d_info,
    // convolutions
    &conv1d_info, &conv3d_info, &conv_transpose1d_info, &conv_transpose2d_info,
    &conv_transpose3d_info, &conv_tbc_info, &convolution_info, &cudnn_convolution_info,
    &cudnn_convolution_transpose_info, &im2col_info, &col2im_info,
    // products
    &baddbmm_info, &addbmm_info, &addmv_info, &addr_info, &chain_matmul_info,
    &linalg_multi_dot_info, &linalg_vecdot_info, &einsum_info, &tensordot_info, &bilinear_info,
    &vdot_info, &cross_info, &linalg_cross_info, &outer_info, &kron_info,
    // products in place
    &addmm_in_place_info, &baddbmm_in_place_info, &addbmm_in_place_info, &addmv_in_place_info,
    &addr_in_place_info,
    // element-wise
    &add_op, &sub_op, &mul_op, &div_op, &maximum_op, &minimum_op, &pow_op,
    &atan2_op, &neg_op, &abs_op, &exp_op, &expm1_op, &log_op, &log1p_op, &log2_op, &log10_op,
    &sqrt_op, &rsqrt_op, &reciprocal_op, &square_op, &sin_op, &cos_op, &erf_op, &clamp_op,
    // trigonometric and hyperbolic
    &acos_op, &asin_op, &atan_op, &tan_op, &cosh_op, &sinh_op, &acosh_op, &asinh_op, &atanh_op,
    &erfc_op, &erfinv_op, &exp2_op,
    // of two or three tensors, or a number and a tensor
    &fmod_op, &remainder_op, &addcmul_op, &addcdiv_op, &lerp_op, &rdiv_op,
    &rtruediv_op, &rpow_op,
    // flat: their gradient is zero
    &floor_op, &ceil_op, &round_op, &trunc_op, &sign_op,
    // questions
    &isnan_op, &isinf_op, &isfinite_op, &logical_not_op, &logical_and_op,
    &logical_or_op, &logical_xor_op,
    // activations
    &relu_op, &gelu_op, &tanh_op, &sigmoid_op, &log_sigmoid_op, &softmax_op, &log_softmax_op,
    &softmin_op, &dropout_op,
    // more activations
    &silu_op, &mish_op, &softplus_op, &softsign_op, &tanhshrink_op, &elu_op, &selu_op,
    &celu_op, &leaky_relu_op, &hardtanh_op, &relu6_op, &hardsigmoid_op, &hardswish_op,
    &threshold_op, &prelu_op,
    // comparisons
    &eq_op, &ne_op, &lt_op, &le_op, &gt_op, &ge_op, &where_op,
    // reductions
    &sum_op, &mean_op, &norm_info, &argmax_op,
    // norms, products and running sums
    &linalg_vector_norm_info, &logsumexp_op, &prod_op, &cumsum_op, &cumprod_op,
    &linalg_matrix_norm_info, &frobenius_norm_info, &nuclear_norm_info,
    // moments, sums without NaN, counts
    &var_op, &std_op, &var_mean_op, &std_mean_op, &nansum_op, &nanmean_op, &all_op,
    &any_op, &count_nonzero_op,
    // the largest, the least and their order
    &amax_op, &amin_op, &argmin_op, &max_op, &min_op, &sort_op, &argsort_op,
    &topk_op, &median_op,
    // distances
    &dist_info, &cdist_info, &pdist_info, &renorm_info, &cosine_similarity_info, &normalize_info,
    // attention and recurrent networks
    &scaled_dot_product_attention_info, &scaled_dot_product_flash_attention_info,
    &rnn_tanh_cell_info, &rnn_relu_cell_info, &lstm_cell_info, &gru_cell_info, &rnn_tanh_info,
    &rnn_relu_info, &lstm_info, &gru_info, &thnn_fused_lstm_cell_info, &thnn_fused_gru_cell_info,
    // normalisation by row, group and instance
    &layer_norm_info, &native_layer_norm_info, &rms_norm_info, &group_norm_info,
    &instance_norm_info,
    // normalisation and pooling
    &batch_norm_info, &batch_norm_relu_info, &max_pool2d_info, &avg_pool2d_info,
    &adaptive_avg_pool2d_info,
    // losses
    &nll_loss_info, &cross_entropy_info, &mse_loss_info, &l1_loss_info,
    &binary_cross_entropy_with_logits_info, &binary_cross_entropy_info,
    // more losses
    &smooth_l1_loss_info, &huber_loss_info, &gaussian_nll_loss_info, &kl_div_info,
    &poisson_nll_loss_info, &multilabel_soft_margin_loss_info, &cosine_embedding_loss_info,
    &triplet_margin_loss_info, &hinge_embedding_loss_info, &margin_ranking_loss_info,
    &soft_margin_loss_info, &multi_margin_loss_info, &multilabel_margin_loss_info, &ctc_loss_info,
    // types, shapes and views
    &cast_info, &reshape_info, &flatten_info, &permute_info, &transpose_info, &expand_info,
    &narrow_info, &contiguous_info, &cat_info,
    // by index
    &index_select_info, &gather_info, &index_add_info, &scatter_add_info, &embedding_op,
    &embedding_bag_info, &scatter_info, &scatter_reduce_info, &index_copy_info, &index_info,
    &index_put_info, &index_put_inplace_info, &take_along_dim_info, &masked_fill_info,
    &masked_scatter_info, &tril_info, &triu_info,
    // sampling
    &grid_sampler_info, &grid_sample_info, &pad_info, &constant_pad_nd_info, &reflection_pad1d_info,
    &reflection_pad2d_info, &reflection_pad3d_info, &replication_pad1d_info,
    &replication_pad2d_info, &replication_pad3d_info, &pixel_shuffle_info, &pixel_unshuffle_info,
    &channel_shuffle_info, &upsample_nearest1d_info, &upsample_nearest2d_info,
    &upsample_nearest3d_info, &upsample_nearest_exact1d_info, &upsample_nearest_exact2d_info,
    &upsample_nearest_exact3d_info, &upsample_linear1d_info, &upsample_bilinear2d_info,
    &upsample_trilinear3d_info, &upsample_bicubic2d_info, &upsample_bilinear2d_aa_info,
    &upsample_bicubic2d_aa_info,
    // parts and copies
    &slice_op, &select_op, &unsqueeze_op, &squeeze_op, &unbind_op, &split_op,
    &chunk_op, &stack_op, &flip_info, &roll_info, &repeat_info, &repeat_interleave_info,
    // in place
    &add_inplace_op, &mul_inplace_op, &exp_inplace_op, &pow_inplace_op, &copy_inplace_op,
    &zero_inplace_op};

/// Ops that cast to 16 bits and are no product of matrices, or are computed in f32.
constexpr std::string_view without_product[] = {"dot", "linalg_vecdot", "prelu", "vdot"};

/// In bf16, on a CPU whose instructions for bf16 products take subnormals for zero
/// (kernels/cpu/dnnl_ops.h). Ops of another policy that are such products say so themselves.
bool flushes_subnormals(const OpInfo& info) {
    const bool product = std::ranges::find(without_product, std::string_view(info.name)) ==
                         std::end(without_product);
    return info.flushes_subnormals || (info.policy == CastPolicy::low && product);
}

constexpr std::string_view not_forceable[] = {"cat",
                                              "channel_shuffle",
                                              "chunk",
                                              "constant_pad_nd",
                                              "contiguous",
                                              "ctc_loss",
                                              "expand",
                                              "flatten",
                                              "flip",
                                              "gather",
                                              "grid_sampler",
                                              "im2col",
                                              "index",
                                              "index_copy",
                                              "index_put",
                                              "index_select",
                                              "masked_fill",
                                              "masked_scatter",
                                              "max_unpool2d",
                                              "max_unpool3d",
                                              "narrow",
                                              "pad",
                                              "permute",
                                              "pixel_shuffle",
                                              "pixel_unshuffle",
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
                                              "scatter",
                                              "scatter_reduce",
                                              "select",
                                              "slice",
                                              "split",
                                              "squeeze",
                                              "stack",
                                              "take_along_dim",
                                              "to",
                                              "transpose",
                                              "tril",
                                              "triu",
                                              "unbind",
                                              "unsqueeze",
                                              "where"};
static_assert(std::ranges::is_sorted(not_forceable));

/// Whether precision.force can set the op's type: it computes with floating numbers, or its output
/// has the type of its input. Excluded are views and copies, choices by index, ops with boolean or
/// integer results, casts, in-place forms, aliases of other ops, and ctc_loss, which accepts no
/// 16-bit numbers.
bool is_forceable(const OpInfo& info) {
    const std::string_view name = info.name;
    return info.forceable && !name.ends_with('_') &&
           !std::ranges::binary_search(not_forceable, name);
}

}  // namespace

std::span<const OpInfo* const> op_infos() { return infos; }

const OpInfo* find_op(const std::string& name) {
    const auto found = std::find_if(std::begin(infos), std::end(infos),
                                    [&](const OpInfo* info) { return name == info->name; });
    return found == std::end(infos) ? nullptr : *found;
}

std::vector<OpSummary> ops() {
    std::vector<OpSummary> out;
    for (const auto* info : infos) {
        out.push_back({std::string(info->name), std::string(info->signature), name(info->policy),
                       info->derivatives, std::string(info->why), flushes_subnormals(*info),
                       is_forceable(*info)});
    }
    return out;
}

}  // namespace engine
