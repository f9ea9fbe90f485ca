#include "ops/detection/balanced_sample.h"

#include <algorithm>
#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/balanced_sample.h"
#include "tensor/check.h"

namespace engine {
namespace {

void check_whole(const Op& op, const Tensor& x) {
    if (x.dtype() == DType::i64) return;
    throw Error(ErrorCode::dtype, std::string(op.name) + ": matches and draws are i64, not " +
                                      name(x.dtype()));
}

}  // namespace

TensorList balanced_sample(const Tensor& matches0, const Tensor& draws0,
                           const SampleOptions& options) {
    return balanced_sample_op.call(
        matches0, draws0, options, [&](const Tensor& matches, const Tensor& draws) {
            const Op& op = balanced_sample_op;
            check_rank(op, matches, 2);
            check_shapes(op, draws.rank() == 1 && draws.size(0) == matches.size(0), matches,
                         draws);
            check_whole(op, matches);
            check_whole(op, draws);
            if (options.count < 0 || options.positives < 0 || options.substream < 0 ||
                options.substream > 0xffffffff)
                throw Error(ErrorCode::value, "balanced_sample: count, positives and substream "
                                              "are not negative");
            const std::int64_t images = matches.size(0),
                               most = std::min(options.positives, options.count);
            const Device& device = matches.device();
            TensorList out{
                Tensor::empty({checked_product(images, options.count)}, DType::i64, device),
                Tensor::empty({checked_product(images, most)}, DType::i64, device),
                Tensor::empty({2}, DType::i64, device)};
            const Tensor match = dense_rows(matches, DType::i64),
                         draw = dense_rows(draws, DType::i64);
            on(device, kernels::cpu::balanced_sample, kernels::cuda::balanced_sample)(
                out[0].data_as<std::int64_t>(), out[1].data_as<std::int64_t>(),
                out[2].data_as<std::int64_t>(), match.data_as<std::int64_t>(),
                draw.data_as<std::int64_t>(),
                {images, matches.size(1), options.count, most,
                 static_cast<std::uint32_t>(options.substream)},
                current_stream());
            return record_outputs(op, std::vector{matches, draws}, out, {}, {});
        });
}

}  // namespace engine
