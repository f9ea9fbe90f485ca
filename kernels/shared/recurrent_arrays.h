#pragma once

#include "kernels/recurrent.h"

/// The typed arrays of a recurrent step, by their names in the contract: shared by the twins.
namespace kernels {

template <typename T>
struct StepArrays {
    T* h_new;
    T* c_new;
    const T* gx;
    const T* gh;
    const T* state;
};

template <typename T>
struct StepGradientArrays {
    T* dgx;
    T* dgh;
    T* dstate;
    const T* dh;
    const T* dh_more;
    const T* dc;
    const T* gx;
    const T* gh;
    const T* state;
};

template <typename T>
StepArrays<T> step_arrays(Array h_new, Array c_new, ConstArray gx, ConstArray gh,
                          ConstArray state) {
    return {static_cast<T*>(h_new.data), static_cast<T*>(c_new.data),
            static_cast<const T*>(gx.data), static_cast<const T*>(gh.data),
            static_cast<const T*>(state.data)};
}

template <typename T>
StepGradientArrays<T> step_gradient_arrays(Array dgx, Array dgh, Array dstate, ConstArray dh,
                                           ConstArray dh_more, ConstArray dc, ConstArray gx,
                                           ConstArray gh, ConstArray state) {
    const auto in = [](ConstArray x) { return static_cast<const T*>(x.data); };
    return {static_cast<T*>(dgx.data),
            static_cast<T*>(dgh.data),
            static_cast<T*>(dstate.data),
            in(dh),
            in(dh_more),
            in(dc),
            in(gx),
            in(gh),
            in(state)};
}

/// Where one column of a row lies.
struct StepColumn {
    std::int64_t hidden;
    std::int64_t gate;   ///< index of its first gate
    std::int64_t state;  ///< index in the states
};

}  // namespace kernels
