#pragma once

#include <cstddef>

constexpr std::size_t mib = std::size_t{1} << 20;
