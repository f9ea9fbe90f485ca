#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "ops/catalog/catalog.h"
#include "ops/loss/loss.h"
#include "support/here.h"
#include "tensor/cast.h"

// M9: the rows of autocast.md#result-types (1.10) and 1.11, for each op of the catalog.
namespace engine {
namespace {

using Attrs = std::map<std::string, AttrValue>;
using Ints = std::vector<std::int64_t>;

/// An argument's shape and type. Without a type it has that of the row.
struct Arg {
    Shape shape;
    std::optional<DType> dtype = {};
};
struct Row {
    const char* op;
    std::vector<Arg> args;
    Attrs attrs = {};
    std::vector<Arg> list = {};  // of the first argument, if it is a list
};

Tensor made(const Arg& arg, DType row_type) {
    const DType dtype = arg.dtype.value_or(row_type);
    return Tensor::full(arg.shape, is_floating(dtype) ? 0.5 : 0, dtype);
}

TensorList run(const Row& row, DType dtype) {
    OpArguments args;
    args.attrs = row.attrs;
    if (args.text("dtype", "") == "low") args.attrs["dtype"] = std::string(name(dtype));
    int position = 0;
    if (!row.list.empty()) {
        for (const auto& arg : row.list) args.lists[0].push_back(made(arg, dtype));
        position = 1;
    }
    for (const auto& arg : row.args) args.tensors[position++] = made(arg, dtype);
    const Op* info = find_op(row.op);
    if (!info) throw Error(ErrorCode::value, std::string("there is no op ") + row.op);
    return info->call_by_name(args);
}

void expect_type(const Row& row, DType low, DType expected) {
    SCOPED_TRACE(std::string(row.op) + " of " + name(low));
    const AutocastRegion region(here, true, low);
    const auto inside = region.enter();
    try {
        EXPECT_EQ(run(row, low)[0].dtype(), expected);
    } catch (const Error& error) {
        ADD_FAILURE() << error.what();
    }
}

const Arg line{{4}}, rows{{2, 4}}, image_arg{{1, 2, 4, 4}}, volume{{1, 2, 4, 4, 4}},
    wide_channels{{2}, DType::f32};

const std::vector<Row> rows_that_stay_low{
    {"relu", {rows}},
    {"gelu", {rows}},
    {"silu", {rows}},
    {"mish", {rows}},
    {"elu", {rows}},
    {"selu", {rows}},
    {"tanh", {rows}},
    {"sigmoid", {rows}},
    {"logsigmoid", {rows}},
    {"dropout", {rows, {{2, 4}, DType::boolean}}, {{"p", 0.5}}},
    {"mean", {rows}},
    {"var", {rows}},
    {"std", {rows}},
    {"max", {rows}, {{"dim", std::int64_t{1}}}},
    {"amax", {rows}, {{"dim", Ints{1}}}},
    {"nansum", {rows}},
    {"topk", {rows}, {{"k", std::int64_t{2}}}},
    {"sort", {rows}},
    {"sum", {rows}, {{"dtype", std::string("low")}}},
    {"softmax", {rows}, {{"dim", std::int64_t{1}}, {"dtype", std::string("low")}}},
    {"sqrt", {rows}},
    {"erf", {rows}},
    {"sin", {rows}},
    {"cos", {rows}},
    {"atan", {rows}},
    {"asinh", {rows}},
    {"div", {rows}, {{"other", 2.0}}},
    {"exp_", {rows}},
    {"pow_", {rows}, {{"exponent", 2.0}}},
    {"batch_norm",
     {image_arg, wide_channels, wide_channels, wide_channels, wide_channels},
     {{"training", true}}},
    {"instance_norm",
     {image_arg, wide_channels, wide_channels, wide_channels, wide_channels},
     {{"use_input_stats", true}}},
    {"max_pool2d", {image_arg}, {{"kernel_size", Ints{2}}}},
    {"avg_pool2d", {image_arg}, {{"kernel_size", Ints{2}}}},
    {"adaptive_avg_pool2d", {image_arg}, {{"output_size", Ints{1, 1}}}},
    {"constant_pad_nd", {image_arg}, {{"pad", Ints{1, 1}}}},
    {"reflection_pad2d", {image_arg}, {{"padding", Ints{1, 1, 1, 1}}}},
    {"replication_pad3d", {volume}, {{"padding", Ints{1, 1, 1, 1, 1, 1}}}},
    {"max_pool3d", {volume}, {{"kernel_size", Ints{2}}}},
    {"avg_pool3d", {volume}, {{"kernel_size", Ints{2}}}},
};

const Arg labels{{2}, DType::i64}, wide_arg{{2, 4}, DType::f32};

const std::vector<Row> rows_that_become_f32{
    {"sum", {rows}},
    {"cumsum", {rows}, {{"dim", std::int64_t{1}}}},
    {"cumprod", {rows}, {{"dim", std::int64_t{1}}}},
    {"norm", {rows}},
    {"softmax", {rows}, {{"dim", std::int64_t{1}}}},
    {"log_softmax", {rows}, {{"dim", std::int64_t{1}}}},
    {"logsumexp", {rows}, {{"dim", Ints{1}}}},
    {"prod", {rows}},
    {"exp", {rows}},
    {"log", {rows}},
    {"pow", {rows}, {{"exponent", 0.5}}},
    {"rsqrt", {rows}},
    {"reciprocal", {rows}},
    {"square", {rows}},
    {"layer_norm", {rows, {{4}, DType::f32}, {{4}, DType::f32}}, {{"normalized_shape", Ints{4}}}},
    {"layer_norm", {rows, line, line}, {{"normalized_shape", Ints{4}}}},
    {"group_norm", {image_arg, wide_channels, wide_channels}, {{"num_groups", std::int64_t{1}}}},
    {"group_norm", {image_arg, {{2}}, {{2}}}, {{"num_groups", std::int64_t{1}}}},
    {"embedding", {labels, wide_arg}},
    {"upsample_nearest2d", {image_arg}, {{"output_size", Ints{6, 6}}}},
    {"upsample_linear1d", {{{1, 2, 4}}}, {{"output_size", Ints{6}}, {"align_corners", false}}},
    {"upsample_bicubic2d", {image_arg}, {{"output_size", Ints{6, 6}}, {"align_corners", false}}},
    {"multilabel_soft_margin_loss", {rows, rows}},
    {"mse_loss", {rows, rows}},
    {"l1_loss", {rows, rows}},
    {"smooth_l1_loss", {rows, rows}},
    {"huber_loss", {rows, rows}},
    {"kl_div", {rows, rows}},
    {"poisson_nll_loss", {rows, rows}},
    {"cross_entropy", {rows, labels}},
    {"nll_loss", {rows, labels}},
    {"soft_margin_loss", {rows, rows}},
    {"binary_cross_entropy_with_logits", {rows, rows}},
};

constexpr DType low_types[] = {DType::f16, DType::bf16};

TEST(TypeRows, M9_RowsOf110ThatStayLow) {
    for (const DType low : low_types) {
        for (const auto& row : rows_that_stay_low) expect_type(row, low, low);
    }
}

TEST(TypeRows, M9_RowsOf110ThatBecomeF32) {
    for (const DType low : low_types) {
        for (const auto& row : rows_that_become_f32) expect_type(row, low, DType::f32);
    }
}

const Arg low_rows{{2, 4}, DType::f16}, low_row{{4}, DType::f16}, one_index{{1}, DType::i64},
    index_rows{{2, 4}, DType::i64}, mask{{2, 4}, DType::boolean};

/// Ordinary element-wise ops on (f16, f32): the result is f32, with autocast on or off.
const std::vector<Row> rows_that_promote{
    {"add", {low_rows, wide_arg}},
    {"sub", {low_rows, wide_arg}},
    {"mul", {low_rows, wide_arg}},
    {"div", {low_rows, wide_arg}},
    {"maximum", {low_rows, wide_arg}},
    {"minimum", {low_rows, wide_arg}},
    {"fmod", {low_rows, wide_arg}},
    {"atan2", {low_rows, wide_arg}},
    {"where", {mask, low_rows, wide_arg}},
    {"addcmul", {low_rows, wide_arg, wide_arg}},
    {"addcdiv", {low_rows, wide_arg, wide_arg}},
    {"outer", {low_row, {{4}, DType::f32}}},
    {"cat", {}, {{"dim", std::int64_t{0}}}, {low_rows, wide_arg}},
    {"stack", {}, {{"dim", std::int64_t{0}}}, {low_rows, wide_arg}},
};

TEST(TypeRows, M9_RowsOf111ThatPromoteTheSameInsideAndOutside) {
    for (const auto& row : rows_that_promote) {
        SCOPED_TRACE(row.op);
        EXPECT_EQ(run(row, DType::f16)[0].dtype(), DType::f32);
        expect_type(row, DType::f16, DType::f32);
    }
}

/// Mixed f16 and f32 that is rejected inside a region too.
const std::vector<Row> rows_refused_everywhere{
    {"lerp", {low_rows, wide_arg}, {{"weight", 0.5}}},
    {"index_add", {low_rows, one_index, {{1, 4}, DType::f32}}, {{"dim", std::int64_t{0}}}},
    {"scatter", {low_rows, index_rows, wide_arg}, {{"dim", std::int64_t{0}}}},
    {"scatter_reduce",
     {low_rows, index_rows, wide_arg},
     {{"dim", std::int64_t{0}}, {"reduce", std::string("sum")}}},
    {"masked_scatter", {low_rows, mask, {{8}, DType::f32}}},
    {"index_copy", {low_rows, one_index, {{1, 4}, DType::f32}}, {{"dim", std::int64_t{0}}}},
    {"addmm_", {{{2, 2}, DType::f16}, {{2, 2}, DType::f32}, {{2, 2}, DType::f32}}},
    {"baddbmm_", {{{1, 2, 2}, DType::f16}, {{1, 2, 2}, DType::f32}, {{1, 2, 2}, DType::f32}}},
};

/// Mixed f16 and f32 that is rejected outside a region; inside, autocast casts.
const std::vector<Row> rows_refused_outside{
    {"mm", {{{2, 2}, DType::f16}, {{2, 2}, DType::f32}}},
    {"baddbmm", {{{1, 2, 2}, DType::f16}, {{1, 2, 2}, DType::f32}, {{1, 2, 2}, DType::f32}}},
    {"addmv", {{{2}, DType::f16}, {{2, 2}, DType::f32}, {{2}, DType::f32}}},
    {"prelu", {low_rows, {{1}, DType::f32}}},
    {"conv1d", {{{1, 2, 4}, DType::f16}, {{2, 2, 1}, DType::f32}}},
    {"conv3d", {{{1, 2, 2, 2, 2}, DType::f16}, {{2, 2, 1, 1, 1}, DType::f32}}},
    {"dot", {low_row, {{4}, DType::f32}}},
    {"vdot", {low_row, {{4}, DType::f32}}},
    {"tensordot", {low_rows, {{4, 2}, DType::f32}}, {{"dims", std::int64_t{1}}}},
    {"cross", {{{2, 3}, DType::f16}, {{2, 3}, DType::f32}}, {{"dim", std::int64_t{1}}}},
    {"scatter_add", {low_rows, index_rows, wide_arg}, {{"dim", std::int64_t{0}}}},
    {"grid_sampler",
     {{{1, 1, 2, 2}, DType::f16}, {{1, 2, 2, 2}, DType::f32}},
     {{"mode", std::string("bilinear")}}},
};

/// The error must contain the op's name, both types and a remedy.
void expect_rejection(const Row& row) {
    SCOPED_TRACE(row.op);
    try {
        run(row, DType::f16);
        ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), ErrorCode::dtype) << text;
        std::string op = row.op;
        if (op.ends_with('_')) op.pop_back();
        for (const std::string& part : {op, std::string("f16"), std::string("f32")})
            EXPECT_NE(text.find(part), std::string::npos) << text;
        EXPECT_FALSE(error.hint().str().empty()) << text;
    }
}

TEST(TypeRows, M9_RowsOf111ThatAreErrorsInsideAndOutside) {
    for (const auto& row : rows_refused_everywhere) {
        expect_rejection(row);
        const AutocastRegion region(here, true, DType::f16);
        const auto inside = region.enter();
        expect_rejection(row);
    }
}

TEST(TypeRows, M9_RowsOf111ThatAreErrorsOutsideAndFineInside) {
    for (const auto& row : rows_refused_outside) {
        expect_rejection(row);
        const CastPolicy policy = find_op(row.op) ? find_op(row.op)->policy : CastPolicy::none;
        expect_type(row, DType::f16, policy == CastPolicy::low ? DType::f16 : DType::f32);
    }
}

}  // namespace
}  // namespace engine
