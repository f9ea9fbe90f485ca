#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/array.h"
#include "tensor/device.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"
#include "tensor/memory/memory.h"

namespace engine {

class Node;
class Tensor;
using TensorList = std::vector<Tensor>;

/// Layout of images whose pixels are `pitch` values, zeros behind their channels
/// (tensor/layout.h).
struct PixelPadding {
    std::int64_t channels = 0, pitch = 0;  ///< 0: not such images
};

/// Memory shared by a tensor and its views. The version rises with every write, through whichever
/// alias.
struct Storage {
    Storage(std::size_t bytes, const Device& device) : block(bytes, device) {}
    Block block;
    std::atomic<std::uint32_t> version{0};
    PixelPadding padding{};
};

enum class Layout { contiguous, channels_last };

/// A 16-bit copy of a parameter that its optimizer keeps (decisions.md#low-precision-weights, D6).
/// Valid while `version` equals the parameter's version.
struct LowCopy;
struct SparseParts;  // tensor/tensor.h

struct TensorImpl {
    std::shared_ptr<Storage> storage;
    Shape shape;
    Strides strides;
    std::int64_t offset = 0;  // elements
    DType dtype = DType::f32;
    Device device;

    bool requires_grad = false;  // set by the user on a leaf
    bool is_view = false;
    bool is_number = false;      // a plain number in an op's place for a tensor: widens nothing
    std::shared_ptr<Node> node;  // that made this; null for a leaf
    std::uint32_t output_index = 0;
    std::weak_ptr<Node> accumulator;  // of a leaf
    std::shared_ptr<TensorImpl> grad;
    std::vector<std::function<void(const Tensor&)>> hooks;
    std::shared_ptr<LowCopy> low_copy;
    std::shared_ptr<const SparseParts> sparse;  // of a sparse tensor: its elements are there
};

/// Handle to an n-dimensional array. Copies share it. Images are NHWC in memory, (N, C, H, W) in
/// shape. An undefined tensor stands for an absent one (no bias, no gradient). Not thread-safe: one
/// thread works on a graph at a time.
class Tensor {
public:
    Tensor() = default;
    explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

    static Tensor empty(const Shape& shape, DType dtype, const Device& device = default_device(),
                        Layout layout = Layout::contiguous);
    static Tensor full(const Shape& shape, double value, DType dtype,
                       const Device& device = default_device());
    static Tensor zeros(const Shape& shape, DType dtype, const Device& device = default_device());
    /// 0-d tensor.
    static Tensor scalar(double value, DType dtype = DType::f64,
                         const Device& device = default_device());
    /// Makes a tensor from values in row-major order, rounded to dtype.
    static Tensor of(const std::vector<double>& values, const Shape& shape,
                     DType dtype = DType::f32, const Device& device = default_device());

    bool defined() const { return impl_ != nullptr; }
    const Shape& shape() const { return impl_->shape; }
    const Strides& strides() const { return impl_->strides; }
    int rank() const { return impl_->shape.rank(); }
    std::int64_t size(int dim) const { return impl_->shape[dim]; }
    std::int64_t numel() const { return impl_->shape.numel(); }
    DType dtype() const { return impl_->dtype; }
    const Device& device() const { return impl_->device; }
    std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype()); }

    /// A gradient with few places (ops/index/sparse.h).
    bool is_sparse() const { return impl_ && impl_->sparse != nullptr; }
    bool is_contiguous() const;
    bool is_channels_last() const;  // rank 4 only

    /// Throws Error(state) for a sparse tensor.
    void* data() const {
        if (impl_->sparse) refuse_sparse();
        return static_cast<std::byte*>(impl_->storage->block.data()) +
               static_cast<std::size_t>(impl_->offset) * size_of(impl_->dtype);
    }
    template <typename T>
    T* data_as() const {
        return static_cast<T*>(data());
    }
    /// The elements as one dense run. Only for dense tensors.
    kernels::Array array() const { return {data(), dtype(), numel()}; }

    /// Part of a graph, or a leaf that asks for a gradient.
    bool requires_grad() const { return impl_ && (impl_->requires_grad || impl_->node); }
    bool is_leaf() const { return impl_->node == nullptr; }
    bool is_view() const { return impl_->is_view; }
    /// Throws Error(state) for a non-leaf, Error(dtype) for an integer tensor.
    Tensor& set_requires_grad(bool on);
    Tensor grad() const { return Tensor(impl_->grad); }
    void set_grad(const Tensor& grad) const { impl_->grad = grad.impl_; }
    /// Calls `hook` with the gradient: for a leaf when it is complete for this backward pass, for
    /// other tensors before it is propagated further.
    void register_hook(std::function<void(const Tensor&)> hook) const;

    std::uint32_t version() const {
        return impl_->storage->version.load(std::memory_order_relaxed);
    }
    /// Must be called after every write into the storage.
    void bump_version() const { impl_->storage->version.fetch_add(1, std::memory_order_relaxed); }

    /// Shares the storage, outside any graph.
    Tensor detach() const;
    /// Value of a one-element tensor. Waits for the device.
    double item() const;
    /// All values in row-major logical order. Waits for the device.
    std::vector<double> values() const;
    void copy_from_host(const void* values) const;  // dense, same dtype
    /// A copy of the same layout on `device`, outside any graph; the tensor itself if it is there
    /// already. For dense tensors. A copy to the host waits.
    Tensor copy_to(const Device& device) const;

    const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

private:
    [[noreturn]] static void refuse_sparse();

    std::shared_ptr<TensorImpl> impl_;
};

/// The tensor's values, or a null array of `dtype` if it is undefined.
inline kernels::Array array_or_null(const Tensor& t, DType dtype) {
    return t.defined() ? t.array() : kernels::Array{nullptr, dtype, 0};
}

struct LowCopy {
    Tensor tensor;
    std::uint32_t version;  // of the parameter when the copy was written
};

/// Tensors by name, as a file holds them.
using TensorMap = std::map<std::string, Tensor>;

/// The contents of a sparse tensor (ops/index/sparse.h).
struct SparseParts {
    Tensor indices;          ///< (d, n) i64, row-major; -1: no place, its values are 0
    Tensor values;           ///< (n, sizes of the dimensions from d on), row-major
    bool coalesced = false;  ///< each place once at most, in row-major order
};

/// Throws Error(state) if x is dense.
const SparseParts& sparse_parts(const Tensor& x);

}  // namespace engine
