#include <cstddef>

extern "C" std::size_t built_for() { return HALFTONE_BUILT_FOR; }
