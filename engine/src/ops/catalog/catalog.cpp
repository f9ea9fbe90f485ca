#include "ops/catalog/catalog.h"

#include <algorithm>
#include <string_view>

#include "engine/settings/catalog.h"
#include "ops/attention/attention.h"
#include "ops/catalog/by_name.h"
#include "ops/catalog_only/columns.h"
#include "ops/conv/convolution.h"
#include "ops/detection/anchors.h"
#include "ops/detection/balanced_sample.h"
#include "ops/detection/boxes.h"
#include "ops/detection/gather_anchors.h"
#include "ops/detection/mask_targets.h"
#include "ops/detection/match_boxes.h"
#include "ops/detection/nms.h"
#include "ops/detection/roi_align.h"
#include "ops/detection/select_boxes.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/index/index_put.h"
#include "ops/index/masked.h"
#include "ops/index/scatter.h"
#include "ops/catalog_only/distance.h"
#include "ops/linalg/einsum.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/matrix_norm.h"
#include "ops/linalg/norm.h"
#include "ops/linalg/products.h"
#include "ops/linalg/similarity.h"
#include "ops/catalog_only/tensor_products.h"
#include "ops/catalog_only/vector_products.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/catalog_only/loss_ctc.h"
#include "ops/catalog_only/loss_distance.h"
#include "ops/catalog_only/loss_likelihood.h"
#include "ops/catalog_only/loss_margin.h"
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
#include "ops/catalog_only/ternary.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/catalog_only/max_unpool.h"
#include "ops/pool/pool.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/extremum.h"
#include "ops/catalog_only/moments.h"
#include "ops/reduce/order.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "ops/catalog_only/grid_sample.h"
#include "ops/vision/pad.h"
#include "ops/vision/upsample.h"
#include "tensor/cast.h"

namespace engine {
namespace {

const Op* const infos[] = {
    // matrix products and convolution
    &mm_op, &bmm_op, &matmul_op, &addmm_op, &mv_op, &dot_op, &linear_op, &conv2d_op,
    // pooling
    &max_pool1d_op, &max_pool3d_op, &avg_pool1d_op, &avg_pool3d_op, &adaptive_avg_pool1d_op,
    &adaptive_avg_pool3d_op, &adaptive_max_pool1d_op, &adaptive_max_pool2d_op,
    &adaptive_max_pool3d_op, &lp_pool1d_op, &lp_pool2d_op, &lp_pool3d_op, &fractional_max_pool2d_op,
    &max_unpool2d_op, &max_unpool3d_op,
    // convolutions
    &conv1d_op, &conv3d_op, &conv_transpose1d_op, &conv_transpose2d_op, &conv_transpose3d_op,
    &conv_tbc_op, &convolution_op, &cudnn_convolution_op, &cudnn_convolution_transpose_op,
    &im2col_op, &col2im_op,
    // products
    &baddbmm_op, &addbmm_op, &addmv_op, &addr_op, &chain_matmul_op, &linalg_multi_dot_op,
    &linalg_vecdot_op, &einsum_op, &tensordot_op, &bilinear_op, &vdot_op, &cross_op,
    &linalg_cross_op, &outer_op, &kron_op,
    // products in place
    &addmm_in_place_op, &baddbmm_in_place_op, &addbmm_in_place_op, &addmv_in_place_op,
    &addr_in_place_op,
    // element-wise
    &add_op, &sub_op, &mul_op, &div_op, &maximum_op, &minimum_op, &pow_op, &atan2_op, &neg_op,
    &abs_op, &exp_op, &expm1_op, &log_op, &log1p_op, &log2_op, &log10_op, &sqrt_op, &rsqrt_op,
    &reciprocal_op, &square_op, &sin_op, &cos_op, &erf_op, &clamp_op,
    // trigonometric and hyperbolic
    &acos_op, &asin_op, &atan_op, &tan_op, &cosh_op, &sinh_op, &acosh_op, &asinh_op, &atanh_op,
    &erfc_op, &erfinv_op, &exp2_op,
    // of two or three tensors, or a number and a tensor
    &fmod_op, &remainder_op, &addcmul_op, &addcdiv_op, &lerp_op, &rdiv_op, &rtruediv_op, &rpow_op,
    // flat: their gradient is zero
    &floor_op, &ceil_op, &round_op, &trunc_op, &sign_op,
    // questions
    &isnan_op, &isinf_op, &isfinite_op, &logical_not_op, &logical_and_op, &logical_or_op,
    &logical_xor_op,
    // activations
    &relu_op, &gelu_op, &tanh_op, &sigmoid_op, &log_sigmoid_op, &softmax_op, &log_softmax_op,
    &softmin_op, &dropout_op,
    // more activations
    &silu_op, &mish_op, &softplus_op, &softsign_op, &tanhshrink_op, &elu_op, &selu_op, &celu_op,
    &leaky_relu_op, &hardtanh_op, &relu6_op, &hardsigmoid_op, &hardswish_op, &threshold_op,
    &prelu_op,
    // comparisons
    &eq_op, &ne_op, &lt_op, &le_op, &gt_op, &ge_op, &where_op,
    // reductions
    &sum_op, &mean_op, &norm_op, &argmax_op,
    // norms, products and running sums
    &linalg_vector_norm_op, &logsumexp_op, &prod_op, &cumsum_op, &cumprod_op,
    &linalg_matrix_norm_op, &frobenius_norm_op, &nuclear_norm_op,
    // moments, sums without NaN, counts
    &var_op, &std_op, &var_mean_op, &std_mean_op, &nansum_op, &nanmean_op, &all_op, &any_op,
    &count_nonzero_op,
    // the largest, the least and their order
    &amax_op, &amin_op, &argmin_op, &max_op, &min_op, &sort_op, &argsort_op, &topk_op, &median_op,
    // distances
    &dist_op, &cdist_op, &pdist_op, &renorm_op, &cosine_similarity_op, &normalize_op,
    // attention and recurrent networks
    &scaled_dot_product_attention_op, &scaled_dot_product_flash_attention_op, &rnn_tanh_cell_op,
    &rnn_relu_cell_op, &lstm_cell_op, &gru_cell_op, &rnn_tanh_op, &rnn_relu_op, &lstm_op, &gru_op,
    &thnn_fused_lstm_cell_op, &thnn_fused_gru_cell_op,
    // normalisation by row, group and instance
    &layer_norm_op, &native_layer_norm_op, &rms_norm_op, &group_norm_op, &instance_norm_op,
    // normalisation and pooling
    &batch_norm_op, &batch_norm_relu_op, &max_pool2d_op, &avg_pool2d_op, &adaptive_avg_pool2d_op,
    // losses
    &nll_loss_op, &cross_entropy_op, &mse_loss_op, &l1_loss_op,
    &binary_cross_entropy_with_logits_op, &binary_cross_entropy_op,
    // more losses
    &smooth_l1_loss_op, &huber_loss_op, &gaussian_nll_loss_op, &kl_div_op, &poisson_nll_loss_op,
    &multilabel_soft_margin_loss_op, &cosine_embedding_loss_op, &triplet_margin_loss_op,
    &hinge_embedding_loss_op, &margin_ranking_loss_op, &soft_margin_loss_op, &multi_margin_loss_op,
    &multilabel_margin_loss_op, &ctc_loss_op,
    // types, shapes and views
    &cast_op, &reshape_op, &flatten_op, &permute_op, &transpose_op, &expand_op, &narrow_op,
    &contiguous_op, &cat_op,
    // by index
    &index_select_op, &gather_op, &index_add_op, &scatter_add_op, &embedding_op, &embedding_bag_op,
    &scatter_op, &scatter_reduce_op, &index_copy_op, &index_op, &index_put_op,
    &index_put_inplace_op, &take_along_dim_op, &masked_fill_op, &masked_scatter_op, &tril_op,
    &triu_op,
    // sampling
    &grid_sampler_op, &grid_sample_op, &pad_op, &constant_pad_nd_op, &reflection_pad1d_op,
    &reflection_pad2d_op, &reflection_pad3d_op, &replication_pad1d_op, &replication_pad2d_op,
    &replication_pad3d_op, &pixel_shuffle_op, &pixel_unshuffle_op, &channel_shuffle_op,
    &upsample_nearest1d_op, &upsample_nearest2d_op, &upsample_nearest3d_op,
    &upsample_nearest_exact1d_op, &upsample_nearest_exact2d_op, &upsample_nearest_exact3d_op,
    &upsample_linear1d_op, &upsample_bilinear2d_op, &upsample_trilinear3d_op,
    &upsample_bicubic2d_op, &upsample_bilinear2d_aa_op, &upsample_bicubic2d_aa_op,
    // detection
    &anchors_op, &box_iou_op, &box_encode_op, &box_decode_op, &nms_op, &batched_nms_op,
    &roi_align_op, &multi_scale_roi_align_op, &match_boxes_op, &balanced_sample_op,
    &select_proposals_op, &select_detections_op, &gather_anchors_op, &mask_targets_op,
    // parts and copies
    &slice_op, &select_op, &unsqueeze_op, &squeeze_op, &unbind_op, &split_op, &chunk_op, &stack_op,
    &flip_op, &roll_op, &repeat_op, &repeat_interleave_op,
    // in place
    &add_inplace_op, &mul_inplace_op, &exp_inplace_op, &pow_inplace_op, &copy_inplace_op,
    &zero_inplace_op};

/// Ops that cast to 16 bits and are no product of matrices, or are computed in f32.
constexpr std::string_view without_product[] = {"dot", "linalg_vecdot", "prelu", "vdot"};

/// In bf16, on a CPU whose instructions for bf16 products take subnormals for zero
/// (kernels/cpu/dnnl_ops.h). Ops of another policy that are such products say so themselves.
bool flushes_subnormals(const Op& info) {
    const bool product = std::ranges::find(without_product, std::string_view(info.name)) ==
                         std::end(without_product);
    return info.flushes_subnormals || (info.policy == CastPolicy::low && product);
}

}  // namespace

std::span<const Op* const> all_ops() { return infos; }

const Op* find_op(const std::string& name) {
    const auto found = std::find_if(std::begin(infos), std::end(infos),
                                    [&](const Op* info) { return name == info->name; });
    return found == std::end(infos) ? nullptr : *found;
}

std::vector<OpSummary> ops() {
    std::vector<OpSummary> out;
    for (const auto* info : infos) {
        out.push_back({std::string(info->name), std::string(info->signature), name(info->policy),
                       info->derivatives, std::string(info->why), flushes_subnormals(*info),
                       info->forceable});
    }
    return out;
}

}  // namespace engine
