#include "ops/recurrent/weight_block.h"

#include <memory>
#include <optional>

#include "kernels/device_error.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

std::int64_t element_at(std::size_t place, DType dtype) {
    return static_cast<std::int64_t>(place / size_of(dtype));
}

std::optional<kernels::RecurrentSpaces> find_spaces(const kernels::RecurrentNetwork& network) {
    try {
        return kernels::cuda::recurrent_spaces(network);
    } catch (const kernels::DeviceError&) {
        return std::nullopt;
    }
}

}  // namespace

Tensor part_of(const Tensor& block, const Tensor& like, std::size_t place) {
    Tensor part = like.detach();
    TensorImpl& impl = *part.impl();
    impl.storage = std::shared_ptr<Storage>(block.impl()->storage.get(),
                                            [whole = block.impl()->storage](Storage*) {});
    impl.strides = contiguous_strides(impl.shape);
    impl.offset = element_at(place, impl.dtype);
    impl.is_view = false;
    return part;
}

bool lie_in_block(std::span<const Tensor> params, const kernels::RecurrentSpaces& spaces) {
    if (params.empty() || spaces.places.size() != params.size()) return false;
    const Storage* const block = params.front().impl()->storage.get();
    if (block->block.bytes() != spaces.weights) return false;
    for (std::size_t i = 0; i < params.size(); ++i) {
        const TensorImpl& impl = *params[i].impl();
        if (impl.storage.get() != block || !params[i].is_contiguous() ||
            impl.offset != element_at(spaces.places[i], impl.dtype))
            return false;
    }
    return true;
}

Tensor block_of(const Tensor& part) {
    Tensor block = part.detach();
    TensorImpl& impl = *block.impl();
    impl.dtype = DType::u8;
    impl.shape = Shape{static_cast<std::int64_t>(impl.storage->block.bytes())};
    impl.strides = contiguous_strides(impl.shape);
    impl.offset = 0;
    return block;
}

void move_into_block(const kernels::RecurrentNetwork& network, std::span<const Tensor> params) {
    const Device& device = params.front().device();
    const DeviceScope here(device);
    const auto spaces = find_spaces(network);
    if (!spaces || spaces->places.size() != params.size() || lie_in_block(params, *spaces)) return;
    const Tensor block =
        Tensor::empty({static_cast<std::int64_t>(spaces->weights)}, DType::u8, device);
    set_zero(block.data(), block.bytes(), device);  // what lies between the parameters
    for (std::size_t i = 0; i < params.size(); ++i) {
        const Tensor part = part_of(block, params[i], spaces->places[i]);
        copy_into(part, params[i]);
        params[i].impl()->storage = part.impl()->storage;
        params[i].impl()->offset = part.impl()->offset;
    }
}

}  // namespace engine
