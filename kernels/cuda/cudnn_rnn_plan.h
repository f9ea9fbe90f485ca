#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cuda/cudnn_rnn_api.h"
#include "kernels/recurrent_network.h"

/// Plans of cuDNN's recurrent networks: descriptors, sizes, and where each weight lies.
namespace kernels::cuda::rnn {

/// A descriptor of the library's; destroyed with the object.
template <typename D, Status (*Table::*make)(D*), Status (*Table::*unmake)(D)>
class Descriptor {
public:
    Descriptor() { check((table().*make)(&handle_), "cudnnCreate...Descriptor"); }
    ~Descriptor() { (table().*unmake)(handle_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    D get() const { return handle_; }

private:
    D handle_ = nullptr;
};
using TensorDescriptor = Descriptor<Tensor, &Table::tensor_create, &Table::tensor_destroy>;
using SequenceDescriptor = Descriptor<Sequence, &Table::sequence_create, &Table::sequence_destroy>;
using NetworkDescriptor = Descriptor<Network, &Table::network_create, &Table::network_destroy>;
using DropoutDescriptor = Descriptor<Dropout, &Table::dropout_create, &Table::dropout_destroy>;

/// Bytes that lie together both in a parameter and in the space of all weights.
struct WeightPiece {
    std::size_t param;  ///< which
    std::size_t in_param, in_space, bytes;
};

/// The types and modes that a network is computed with. For f32 cuDNN's standard mode is TF32; its
/// "conversion" mode would treat f32 operands as f16.
struct Arithmetic {
    DataType data, precision;
    Math math;
};
Arithmetic arithmetic_of(const RecurrentNetwork& network);

/// "standard", "persist-static", ...
const char* name_of(Algorithm algorithm);

/// One network's descriptors. Every status is checked: "not supported" leaves it not found(),
/// others throw DeviceError, want of memory OutOfMemory.
///
/// The library reads extents, strides and lengths from the host's memory when it is described,
/// which it copies into the descriptors (tests/kernels/cuda/cudnn_rnn_plan_test.cpp holds that for
/// the lengths), and in its passes nothing but the descriptors: addresses are the device's, and the
/// lengths it takes from the sequences' descriptors. Should it copy those to the device from the
/// descriptor in a recorded pass, each replay would read there: so a recorded graph holds the plan.
class Plan {
public:
    Plan(Handle handle, const RecurrentNetwork& network, Algorithm algorithm = Algorithm::standard);

    bool found() const { return found_; }
    Algorithm algorithm() const { return algorithm_; }
    /// The library refused to run it.
    void refuse() { found_ = false; }

    const RecurrentSpaces& spaces() const { return spaces_; }
    std::size_t workspace_bytes() const { return workspace_bytes_; }
    const std::vector<WeightPiece>& pieces() const { return pieces_; }
    /// The library leaves room between weights.
    bool has_gaps() const { return covered_ < spaces_.weights; }

    Status forward(Handle handle, const RecurrentForwardPass& pass, void* workspace) const;
    Status backward_data(Handle handle, const RecurrentBackwardPass& pass, void* workspace) const;
    /// Adds to d_weights.
    Status backward_weights(Handle handle, const RecurrentBackwardPass& pass,
                            void* workspace) const;

private:
    bool describe(Handle handle, const RecurrentNetwork& network, Algorithm algorithm);
    bool measure(Handle handle);
    bool find_weights(Handle handle, const RecurrentNetwork& network);
    Tensor cell_state() const { return lstm_ ? state_.get() : nullptr; }

    DropoutDescriptor no_dropout_;
    NetworkDescriptor network_;
    SequenceDescriptor x_, y_;
    TensorDescriptor state_;
    Algorithm algorithm_;
    Mode mode_;
    bool lstm_;
    RecurrentSpaces spaces_;
    std::size_t workspace_bytes_ = 0, covered_ = 0;
    std::vector<WeightPiece> pieces_;
    bool found_ = false;
};

}  // namespace kernels::cuda::rnn
