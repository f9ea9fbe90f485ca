#pragma once

namespace engine {

/// How long a test waits for the end of a run. With a sanitizer a session on the simulated device
/// takes ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int patience_s = 2000;
#else
inline constexpr int patience_s = 300;
#endif

}  // namespace engine
