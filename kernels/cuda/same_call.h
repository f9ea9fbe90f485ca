#pragma once

#include <type_traits>

/// Holds our own declaration of a library's function against its header's.
namespace kernels::cuda {

/// A type of theirs and the one that stands for it in a table of functions.
template <typename Theirs, typename Ours>
constexpr bool stands_for() {
    if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>)
        return true;  // opaque handles and memory
    else if constexpr (std::is_enum_v<Theirs>)
        return sizeof(Theirs) == sizeof(Ours) &&
               (std::is_enum_v<Ours> || std::is_same_v<Ours, int>);
    else if constexpr (std::is_class_v<Theirs> && std::is_class_v<Ours>)
        return sizeof(Theirs) == sizeof(Ours) && alignof(Theirs) == alignof(Ours) &&
               std::is_trivially_copyable_v<Theirs> && std::is_trivially_copyable_v<Ours>;
    else
        return std::is_same_v<Theirs, Ours>;
}

template <typename R1, typename... P1, typename R2, typename... P2>
constexpr bool same_call(R1 (*)(P1...), R2 (*)(P2...)) {
    if constexpr (sizeof...(P1) != sizeof...(P2))
        return false;
    else
        return stands_for<R1, R2>() && (stands_for<P1, P2>() && ...);
}

}  // namespace kernels::cuda
