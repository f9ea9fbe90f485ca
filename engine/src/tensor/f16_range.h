#pragma once

#include <memory>
#include <vector>

#include "tensor/observer.h"
#include "tensor/tensor.h"

namespace engine {

/// Keeps the largest magnitude of the f16 gradients of backward passes on the device: the upper
/// edge of the loss-scale band. Each is read once, on a GPU small ones by one kernel for several,
/// which keeps them until then; but for those that another kernel reads or writes anyway:
///
/// - The gradient function of an operation that is named here may take its incoming gradient along
///   (`claim`), and what it computes (`cover`).
/// - A gradient that a leaf takes as it is (LowGradients) is not seen here. The gradient check has
///   its magnitude.
///
/// Attached to its thread while it lives. One at a time.
class F16Range final : public OpObserver {
public:
    /// `largest`: 0-d f32, which grows. `claiming`: the operations whose gradient functions claim.
    F16Range(const Tensor& largest, std::vector<const Op*> claiming);
    ~F16Range() override;
    F16Range(const F16Range&) = delete;
    F16Range& operator=(const F16Range&) = delete;

    bool sees_ops() const override { return false; }
    void on_gradient(const Op& to, const Tensor& gradient) override;
    /// True for operations whose gradient functions claim: they take the sum's magnitudes along.
    bool allows_pair(const Op& to) const override;

    /// For a gradient function: where its kernel takes the magnitudes of dy, its incoming gradient,
    /// and of the gradient that it computes along. Null: they are not wanted. Who gets a place
    /// calls cover() for the gradient that it computes.
    static float* claim(const Tensor& dy);
    /// Claims a place where the incoming gradient is a sum of two of this type (PairedGradFn),
    /// which was not shown. The caller's kernel must measure it: no observer sees the sum.
    static float* claim_sum(DType type);
    static void cover(const Tensor& dx);

private:
    bool claims(const Op& to) const;
    void measure(const Tensor& gradient);
    void measure_later(const Tensor& gradient);
    void measure_kept();
    void settle();

    Tensor largest_;
    std::vector<const Op*> claiming_;
    Tensor waiting_;   // for the gradient function that may claim it
    TensorList kept_;  // dense, small: measured together
    std::size_t kept_bytes_ = 0;
    std::weak_ptr<TensorImpl> covered_;
    ObserverScope scope_;
};

}  // namespace engine
