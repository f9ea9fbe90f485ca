#include "tensor/tensor.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "tensor/free_list.h"
#include "tensor/transfer.h"

namespace engine::detail {

constinit thread_local FreeLists free_lists{};

namespace {

/// Frees the lists at the end of the thread. Memory that is freed still later goes straight back.
struct Closing {
    ~Closing() {
        FreeLists& all = free_lists;
        all.open = false;
        for (FreeLists::Free*& first : all.first) {
            while (first != nullptr) {
                FreeLists::Free* const block = first;
                first = block->next;
                ::operator delete(block);
            }
        }
        closed = true;
    }
    static constinit thread_local bool closed;
};
constinit thread_local bool Closing::closed = false;

}  // namespace

bool open_lists() noexcept {
    if (Closing::closed) return false;
    thread_local Closing closing;
    (void)closing;
    free_lists.open = true;
    return true;
}

}  // namespace engine::detail

namespace engine {
namespace {

double element(const std::byte* data, DType dtype, std::int64_t i) {
    const auto at = [&]<typename T>(T) { return reinterpret_cast<const T*>(data)[i]; };
    switch (dtype) {
        case DType::f64:
            return at(double{});
        case DType::f32:
            return at(float{});
        case DType::f16:
            return kernels::to_float(at(kernels::Half{}));
        case DType::bf16:
            return kernels::to_float(at(kernels::BFloat16{}));
        case DType::i64:
            return static_cast<double>(at(std::int64_t{}));
        case DType::i32:
            return at(std::int32_t{});
        case DType::u8:
        case DType::boolean:
            return at(std::uint8_t{});
    }
    return 0;
}

/// Calls f(offset in elements) for each element in row-major logical order.
template <typename F>
void walk(const Shape& shape, const Strides& strides, F&& f) {
    const std::int64_t n = shape.numel();
    Dims index = shape;
    for (int d = 0; d < shape.rank(); ++d) index[d] = 0;
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        f(offset);
        for (int d = shape.rank() - 1; d >= 0; --d) {
            offset += strides[d];
            if (++index[d] < shape[d]) break;
            offset -= strides[d] * shape[d];
            index[d] = 0;
        }
    }
}

std::shared_ptr<TensorImpl> new_impl() {
    return std::allocate_shared<TensorImpl>(FreeListAllocator<TensorImpl>());
}

std::shared_ptr<Storage> new_storage(std::size_t bytes, const Device& device) {
    return std::allocate_shared<Storage>(FreeListAllocator<Storage>(), bytes, device);
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, const Device& device, Layout layout) {
    check_shape(shape);
    auto impl = new_impl();
    impl->shape = shape;
    impl->strides = layout == Layout::channels_last && shape.rank() == 4
                        ? channels_last_strides(shape)
                        : contiguous_strides(shape);
    impl->dtype = dtype;
    impl->device = device;
    impl->storage = new_storage(static_cast<std::size_t>(shape.numel()) * size_of(dtype), device);
    return Tensor(std::move(impl));
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, const Device& device) {
    Tensor t = empty(shape, dtype, device);
    on(device, kernels::cpu::fill, kernels::cuda::fill)(t.array(), value, current_stream());
    return t;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, const Device& device) {
    return full(shape, 0.0, dtype, device);
}

Tensor Tensor::scalar(double value, DType dtype, const Device& device) {
    return full({}, value, dtype, device);
}

Tensor Tensor::of(const std::vector<double>& values, const Shape& shape, DType dtype,
                  const Device& device) {
    if (static_cast<std::int64_t>(values.size()) != shape.numel()) {
        throw Error(ErrorCode::shape, "Tensor::of: " + std::to_string(values.size()) +
                                          " values do not fill the shape " + to_string(shape));
    }
    const Tensor t = empty(shape, dtype, Device{});
    kernels::cpu::cast(t.array(), {values.data(), DType::f64, t.numel()}, {});
    return constant_on(device, t);
}

void Tensor::refuse_sparse() {
    throw Error(ErrorCode::state, "a sparse gradient came where a dense tensor is needed",
                "Use embedding with sparse = false, or an optimizer for sparse gradients.");
}

bool Tensor::is_contiguous() const {
    // As same_walk() beside contiguous_strides(), but from the back and without making them.
    const Shape& sizes = impl_->shape;
    std::int64_t step = 1;
    bool walks = true;
    for (int i = sizes.rank() - 1; i >= 0; --i) {
        if (sizes[i] == 0) {
            walks = true;
        } else if (sizes[i] != 1) {
            walks = walks && impl_->strides[i] == step;
            step *= sizes[i];
        }
    }
    return walks;
}

bool Tensor::is_channels_last() const {
    return rank() == 4 && same_walk(shape(), strides(), channels_last_strides(shape()));
}

Tensor& Tensor::set_requires_grad(bool on_) {
    if (!is_leaf()) throw Error(ErrorCode::state, "requires_grad can only be set on a leaf");
    if (on_ && !is_floating(dtype())) {
        throw Error(ErrorCode::dtype,
                    std::string("a tensor of ") + name(dtype()) + " cannot require a gradient");
    }
    impl_->requires_grad = on_;
    return *this;
}

void Tensor::register_hook(std::function<void(const Tensor&)> hook) const {
    impl_->hooks.push_back(std::move(hook));
}

Tensor Tensor::detach() const {
    auto impl = new_impl();
    impl->storage = impl_->storage;
    impl->shape = impl_->shape;
    impl->strides = impl_->strides;
    impl->offset = impl_->offset;
    impl->dtype = impl_->dtype;
    impl->device = impl_->device;
    impl->sparse = impl_->sparse;
    impl->is_view = true;
    return Tensor(std::move(impl));
}

namespace {

/// The memory of the tensor's elements on the host: the tensor's own if it is there, else a copy.
/// The data begin at element 0; others lie before it where a stride is negative.
Tensor on_host(const Tensor& x) {
    if (x.device().kind == Device::Kind::cpu || x.numel() == 0) return x;
    std::int64_t first = 0, last = 0;
    for (int d = 0; d < x.rank(); ++d)
        (x.strides()[d] < 0 ? first : last) += (x.size(d) - 1) * x.strides()[d];
    const Tensor host = Tensor::empty({last - first + 1}, x.dtype(), Device{});
    const auto item = static_cast<std::int64_t>(size_of(x.dtype()));
    copy_to_host(host.data(), x.data_as<std::byte>() + first * item, host.bytes(), x.device());
    host.impl()->offset = -first;
    return host;
}

}  // namespace

double Tensor::item() const {
    if (numel() != 1) {
        throw Error(ErrorCode::shape,
                    "item: the tensor has shape " + to_string(shape()) + ", not one element");
    }
    return element(on_host(*this).data_as<std::byte>(), dtype(), 0);
}

std::vector<double> Tensor::values() const {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(numel()));
    const Tensor host = on_host(*this);
    walk(shape(), strides(),
         [&](std::int64_t at) { out.push_back(element(host.data_as<std::byte>(), dtype(), at)); });
    return out;
}

void Tensor::copy_from_host(const void* values) const {
    engine::copy_from_host(data(), values, bytes(), device());
    bump_version();
}

Tensor Tensor::copy_to(const Device& device) const {
    if (impl_->device == device) return *this;
    auto impl = new_impl();
    impl->shape = shape();
    impl->strides = strides();
    impl->dtype = dtype();
    impl->device = device;
    impl->storage = new_storage(bytes(), device);
    const Tensor to(std::move(impl));
    if (impl_->device.kind == Device::Kind::cpu) {
        engine::copy_from_host(to.data(), data(), bytes(), device);
    } else if (device.kind == Device::Kind::cpu) {
        copy_to_host(to.data(), data(), bytes(), impl_->device);
    } else {
        copy_between(to.data(), device, data(), impl_->device, bytes());
    }
    return to;
}

const SparseParts& sparse_parts(const Tensor& x) {
    if (!x.is_sparse()) throw Error(ErrorCode::state, "the tensor is dense, not sparse");
    return *x.impl()->sparse;
}

}  // namespace engine
