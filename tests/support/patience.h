#pragma once

#include <chrono>
#include <thread>

namespace engine::test {

/// How long a test waits at most for what another thread or process does. With a sanitizer a
/// session on the simulated device takes ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int patience_s = 2000;
#else
inline constexpr int patience_s = 300;
#endif

/// Asks every millisecond whether the condition holds, until it does or patience_s is over. Returns
/// the last answer.
template <typename Condition>
bool comes_true(Condition&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace engine::test
